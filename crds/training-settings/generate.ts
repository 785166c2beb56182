import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { format } from 'oxfmt'
import { stringify } from 'yaml'
import { methodNames, methods } from '../methods.ts'
import { describeProperties } from './crd-properties.ts'
import { describeListRules, describeMethod, describeMethodRules } from './crd-rules.ts'
import { parseDeclaration } from './declaration.ts'
import { writeDocsTable } from './docs-table.ts'
import { replaceMarked } from './marked-parts.ts'
import { writePythonMethods, writePythonModule } from './python-module.ts'
import { writeRestSchemas } from './rest-schema.ts'

const declarationFile = path.join(import.meta.dirname, 'settings.yaml')
const root = path.join(import.meta.dirname, '..', '..')
// The style of .oxfmtrc.json. If they differ, the format check fails.
const style = { semi: false, singleQuote: true, printWidth: 120, trailingComma: 'all' } as const

/** Generates the texts of training job settings, by file. */
export async function generateSettings(): Promise<Map<string, string>> {
  const declaration = parseDeclaration(await readFile(declarationFile, 'utf8'))
  const rest = path.join(root, 'apiserver', 'training', 'settings', 'generated.ts')
  const trainer = path.join(root, 'trainer', 'trainyard_trainer')
  const jobs = path.join(root, 'docs', 'jobs.md')
  const crd = path.join(root, 'crds', 'trainingjobs.yaml')
  return new Map([
    [rest, (await format(rest, writeRestSchemas(declaration), style)).code],
    [path.join(trainer, 'methods.py'), writePythonMethods()],
    ...methodNames.map((method): [string, string] => [
      path.join(trainer, methods[method].folder, 'settings.py'),
      writePythonModule(declaration, method),
    ]),
    [
      jobs,
      await fillIn(
        jobs,
        Object.fromEntries(methodNames.map((method) => [`settings of ${method}`, writeDocsTable(declaration, method)])),
      ),
    ],
    [
      crd,
      await fillIn(crd, {
        'properties of method': writeYaml(describeMethod()),
        'rules of methods': writeYaml(describeMethodRules(declaration)),
        'rules of lists': writeYaml(describeListRules(declaration)),
        'properties of config': writeYaml(describeProperties(declaration)),
      }),
    ],
  ])
}

async function fillIn(file: string, parts: Record<string, string>): Promise<string> {
  const text = await readFile(file, 'utf8')
  return Object.entries(parts).reduce((filled, [name, part]) => replaceMarked(filled, name, part), text)
}

function writeYaml(value: unknown): string {
  return stringify(value, { lineWidth: 110, singleQuote: true })
}
