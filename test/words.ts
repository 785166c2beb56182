import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'

const root = path.dirname(import.meta.dirname)
// Comments and texts may say these words.
const textsAndComments = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g

/** The names that the glossary replaces: whole ones, and beginnings of names. */
function readReplaced(): { names: Set<string>; beginnings: string[] } {
  const rows = readFileSync(path.join(root, 'docs/glossary.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| '))
  const words = rows.flatMap((row) => [...row.split('|')[4]!.matchAll(/`(\w+)(…?)`/g)])
  const of = (ending: string) => words.filter(([, , found]) => found === ending).map(([, word]) => word!)
  return { names: new Set(of('')), beginnings: of('…') }
}

/** Each identifier that the glossary replaces, with its file. */
function findReplaced(): string[] {
  const { names, beginnings } = readReplaced()
  const begins = new RegExp(`^(${beginnings.join('|')})[A-Z]`)
  const isReplaced = (name: string) => names.has(name) || begins.test(name)
  const files = spawnSync('git', ['ls-files', '*.ts'], { cwd: root, encoding: 'utf8' }).stdout.trim().split('\n')
  return files.flatMap((file) => {
    const code = readFileSync(path.join(root, file), 'utf8').replaceAll(textsAndComments, ' ')
    const found = new Set(code.match(/[A-Za-z_$][\w$]*/g)?.filter(isReplaced))
    return [...found].map((name) => `${file}: ${name} (docs/glossary.md says what to call it)`)
  })
}

const found = findReplaced()
for (const line of found) console.log(line)
process.exitCode = found.length > 0 ? 1 : 0
