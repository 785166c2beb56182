import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'

const root = path.dirname(import.meta.dirname)

interface Language {
  files: string[]
  /** Matches comments and texts, which may use these words. */
  textsAndComments: RegExp
  /** Headings of the glossary's sections that do not apply to the language. */
  otherSections: string[]
}

const languages: Language[] = [
  {
    files: ['*.ts', '*.tsx'],
    textsAndComments: /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g,
    otherSections: ['The trainer'],
  },
  {
    files: ['trainer/*.py'],
    textsAndComments: /"""[\s\S]*?"""|#[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g,
    otherSections: [],
  },
]

/** Reads the names that the glossary replaces in a language: whole names, beginnings and ends. */
function readReplaced({ otherSections }: Language) {
  const sections = readFileSync(path.join(root, 'docs/glossary.md'), 'utf8').split('\n## ')
  const rows = sections
    .filter((section) => !otherSections.some((heading) => section.startsWith(`${heading}\n`)))
    .flatMap((section) => section.split('\n'))
    .filter((line) => line.startsWith('| '))
  const words = rows.flatMap((row) => [...row.split('|')[4]!.matchAll(/`(…?)(\w+)(…?)`/g)])
  const list = (before: string, after: string) =>
    words.filter(([, start, , end]) => start === before && end === after).map(([, , word]) => word!)
  return { names: new Set(list('', '')), beginnings: list('', '…'), ends: list('…', '') }
}

/** Lists each identifier that the glossary replaces, with its file. */
function findReplaced(language: Language): string[] {
  const { names, beginnings, ends } = readReplaced(language)
  // `mostLines` in TypeScript; `most_lines` and `MOST_LINES` in Python.
  const begins = new RegExp(`^(?:(?:${beginnings.join('|')})[A-Z_]|(?:${beginnings.join('|').toUpperCase()})_)`)
  const isReplaced = (name: string) => names.has(name) || begins.test(name) || ends.some((end) => name.endsWith(end))
  const listing = spawnSync('git', ['ls-files', ...language.files], { cwd: root, encoding: 'utf8' })
  return listing.stdout
    .trim()
    .split('\n')
    .flatMap((file) => {
      const code = readFileSync(path.join(root, file), 'utf8').replaceAll(language.textsAndComments, ' ')
      const found = new Set(code.match(/[A-Za-z_$][\w$]*/g)?.filter(isReplaced))
      return [...found].map((name) => `${file}: ${name} (docs/glossary.md says what to call it)`)
    })
}

const found = languages.flatMap(findReplaced)
for (const line of found) console.log(line)
process.exitCode = found.length > 0 ? 1 : 0
