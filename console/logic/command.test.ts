import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { listResources, writeCurl, writePython } from './command.ts'

const origin = 'http://127.0.0.1:8080'
const hostile = `it's $(touch x) "quoted" \\ & \``

test('a shell passes hostile text on as it is', () => {
  const command = writeCurl(origin, { address: `/v1/models?name=${hostile}`, body: { text: hostile } })
  const print = `curl() { printf '%s\\n' "$@"; }; ${command}`
  const words = execFileSync('bash', ['-c', print], { env: { TRAINYARD_API_KEY: 'key' }, encoding: 'utf8' }).split('\n')
  expect(words).toContain('Authorization: Bearer key')
  expect(words).toContain(JSON.stringify({ text: hostile }))
  expect(words).toContain(`${origin}/v1/models?name=${hostile}`)
})

test('the key never stands in a command', () => {
  expect(writeCurl(origin, { address: '/v1/models' })).toBe(
    'curl -H "Authorization: Bearer $TRAINYARD_API_KEY" http://127.0.0.1:8080/v1/models',
  )
})

test('the words of JSON become those of Python, but not in texts', () => {
  const request = { method: 'POST', address: '/x', body: { a: true, b: null, c: 'true null' } }
  const text = writePython(origin, [request, { address: '/y?a=b' }])
  expect(text).toContain('print(call("POST", "/x", {"a":True,"b":None,"c":"true null"}))')
  expect(text).toContain('print(call("GET", "/y?a=b"))')
})

test('resources are listed by the labels of their project, as far as its names are values of labels', () => {
  expect(listResources('tj', { entity: 'team', project: 'mail' })).toBe(
    'kubectl get tj -l trainyard.dev/entity=team,trainyard.dev/project=mail',
  )
  expect(listResources('tj', { entity: 'team', project: '-a'.repeat(40) })).toBe(
    'kubectl get tj -l trainyard.dev/entity=team',
  )
})
