import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const root = path.join(import.meta.dirname, '..', '..')
const page = readFileSync(path.join(root, 'docs', 'troubleshooting.md'), 'utf8')

// Kubernetes' own: the operator passes them on.
const kubernetesReasons = new Set([
  'CrashLoopBackOff',
  'ErrImagePull',
  'Error',
  'FailedCreate',
  'ImagePullBackOff',
  'OOMKilled',
])

const firstColumn = page.split('\n').flatMap((line) => (line.startsWith('| ') ? [line.split(' | ')[0]!] : []))
const named = [...firstColumn.join('\n').matchAll(/`([A-Za-z_]+)`/g)].map(([, name]) => name!)
const reasons = [...new Set(named)].filter((name) => /^[A-Z][A-Za-z]+$/.test(name) && !kubernetesReasons.has(name))
const codes = [...new Set(named)].filter((name) => /^[a-z]+_[a-z_]+$/.test(name) && !/^(not|trainyard)_/.test(name))

const isInCode = (text: string, ...folders: string[]) => {
  const args = ['grep', '-lwF', text, '--', ...folders, ':!*test*', ':!*.md']
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }) !== ''
}

test.each(reasons)('%s, which the page explains, is a reason of the operator, the database or a trainer', (reason) => {
  expect(isInCode(reason, 'operator', 'db', 'trainer', 'crds', 'apiserver')).toBe(true)
})

test.each(codes)('%s, which the page explains, is an error of the API', (code) => {
  expect(isInCode(code, 'apiserver/errors/table.ts')).toBe(true)
})

test('the page explains many reasons', () => {
  expect(reasons.length).toBeGreaterThan(20)
  expect(codes.length).toBeGreaterThan(3)
})
