import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { errors, limitErrors } from '../apiserver/errors/table.ts'
import { errors as statusErrors } from '../operator/status-server/errors.ts'
import type { ErrorDefinition, LimitErrorDefinition } from '../lib/http/error-table.ts'

const root = path.dirname(import.meta.dirname)
const file = path.join(root, 'docs', 'errors.md')

const retries: Record<ErrorDefinition['retry'], string> = {
  no: 'no',
  yes: 'yes',
  'retry-after': 'yes, after `Retry-After` seconds',
}

/** Renders docs/errors.md: the handwritten text above the tables, and the tables of errors. */
export function renderErrorsPage(): string {
  const head = readFileSync(path.join(import.meta.dirname, 'errors-head.md'), 'utf8')
  const statusHead =
    '## Errors of the status server\n\nTrainer pods get them as `{"detail": sentence}`; users never do.\n'
  return `${head}\n${renderTable({ ...errors, ...limitErrors })}\n${statusHead}\n${renderTable(statusErrors)}`
}

function renderTable(table: Record<string, ErrorDefinition | LimitErrorDefinition>): string {
  const rows = Object.values(table)
    .toSorted((a, b) => a.status - b.status || (a.code < b.code ? -1 : 1))
    .map(({ code, status, sentence, retry }) => `| \`${code}\` | ${status} | ${sentence} | ${retries[retry]} |\n`)
  return `| code | status | sentence | send it again? |\n|---|---|---|---|\n${rows.join('')}`
}

if (import.meta.main) {
  const page = renderErrorsPage()
  if (!process.argv.includes('--check')) writeFileSync(file, page)
  else if (page !== readFileSync(file, 'utf8')) {
    console.error('docs/errors.md is not what the tables of errors make: npm run gen')
    process.exitCode = 1
  }
}
