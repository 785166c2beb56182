import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { renderConsoleTypes, type Operation } from './render-console-types.ts'
import { readOpenApi } from './openapi.ts'

const file = path.join(import.meta.dirname, '..', 'console', 'data', 'api-types.ts')

const documents = [
  { base: '', document: await readOpenApi<Operation>('') },
  { base: '/traces', document: await readOpenApi<Operation>('/traces') },
]
const types = renderConsoleTypes(documents)
if (process.argv.includes('--check')) {
  const isFresh = readFileSync(file, 'utf8') === types
  if (!isFresh) console.error('console/data/api-types.ts is stale: run npm run gen')
  process.exit(isFresh ? 0 : 1)
}
writeFileSync(file, types)
