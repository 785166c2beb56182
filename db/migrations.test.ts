import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

// Processes of the version before run on the new schema during a rolling upgrade, and after a rollback. So a migration only
// adds. What is unused is dropped a release later.
const removing: readonly [string, RegExp][] = [
  ['drops', /\bDROP\s+(?!TRIGGER\b|NOT\s+NULL\b|DEFAULT\b)\w+/i],
  // A trigger is replaced in the transaction that drops it.
  ['drops a trigger', /\bDROP\s+TRIGGER\s+(?:IF\s+EXISTS\s+)?(\w+)\b(?![\s\S]*CREATE\s+TRIGGER\s+\1\b)/i],
  ['renames', /\bRENAME\b/i],
  ['lets a column reject null', /\bSET\s+NOT\s+NULL\b/i],
  [
    'adds a column that earlier versions do not write',
    /\bADD\s+COLUMN\s+(?:[^,;]|\([^)]*\))*\bNOT\s+NULL\b(?:(?!\bDEFAULT\b)[^,;])*[,;]/i,
  ],
  ['changes the type of a column', /\bALTER\s+COLUMN\s+\w+\s+(?:SET\s+DATA\s+)?TYPE\b/i],
  ['adds a constraint', /\bADD\s+(?:CONSTRAINT|CHECK|UNIQUE|PRIMARY|FOREIGN|EXCLUDE)\b/i],
  ['locks a table', /\bLOCK\s+TABLE\b/i],
  ['truncates', /\bTRUNCATE\b/i],
]

// Migrations that match all the same, and why that is right.
const exceptions: Record<string, string> = {
  'main/0001_auth.sql': 'it forbids to truncate the audit log',
  'tracing/0001_tracing.sql': 'a function of it locks the calls to add a partition',
}

const folders = { main: 'migrations', tracing: 'tracing/migrations' }

function findRemovals(sql: string): string[] {
  const statements = sql.replaceAll(/--.*$/gm, '').replaceAll(/\/\*[\s\S]*?\*\//g, '')
  return removing.filter(([, pattern]) => pattern.test(statements)).map(([what]) => what)
}

test.each(['main', 'tracing'] as const)('migrations of the part %s only add', (part) => {
  const folder = path.join(import.meta.dirname, folders[part])
  const files = readdirSync(folder).filter((name) => !(`${part}/${name}` in exceptions))
  const found = files.map((name) => [name, findRemovals(readFileSync(path.join(folder, name), 'utf8'))])
  expect(found).toEqual(files.map((name) => [name, []]))
})

test('every exception is a migration', () => {
  const all = (['main', 'tracing'] as const).flatMap((part) =>
    readdirSync(path.join(import.meta.dirname, folders[part])).map((name) => `${part}/${name}`),
  )
  expect(all).toEqual(expect.arrayContaining(Object.keys(exceptions)))
})

test.each<[string, string[]]>([
  ['ALTER TABLE a ADD COLUMN b text, ADD COLUMN c integer NOT NULL DEFAULT 0; -- DROP', []],
  ['CREATE TABLE a (b text NOT NULL);', []],
  ['ALTER TABLE a ALTER COLUMN b DROP NOT NULL;', []],
  ['DROP TRIGGER old ON a; CREATE TRIGGER old AFTER INSERT ON a EXECUTE FUNCTION f();', []],
  ['DROP TRIGGER t ON a;', ['drops a trigger']],
  ['ALTER TABLE a DROP COLUMN b;', ['drops']],
  ['drop index a;', ['drops']],
  ['ALTER TABLE a RENAME COLUMN b TO c;', ['renames']],
  ['ALTER TABLE a ALTER COLUMN b SET NOT NULL;', ['lets a column reject null']],
  [
    'ALTER TABLE a ADD COLUMN b text NOT NULL, ADD COLUMN c text DEFAULT 0;',
    ['adds a column that earlier versions do not write'],
  ],
  ['ALTER TABLE a ALTER b TYPE bigint, ALTER COLUMN b TYPE bigint;', ['changes the type of a column']],
  ['ALTER TABLE a ADD CONSTRAINT c CHECK (b > 0);', ['adds a constraint']],
])('finds what a migration removes: %s', (sql, expected) => {
  expect(findRemovals(sql)).toEqual(expected)
})
