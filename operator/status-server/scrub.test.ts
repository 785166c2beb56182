import { expect, test } from 'vitest'
import { scrub, truncateScrubbed } from './scrub.ts'

const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ0cmFpbmVyIn0.c2lnbmF0dXJl'

test.each([
  ['a bearer token', 'Authorization: Bearer abc.def-123', 'abc.def-123'],
  ['a bearer token of another spelling', 'sent bearer abcdef123456 on', 'abcdef123456'],
  ['a service-account token', `refused ${jwt}`, jwt],
  ['our own key', 'key=ty_Zm9vYmFyYmF6cXV4', 'Zm9vYmFy'],
  ['our own key within quotes', '{"key": "ty_Zm9vYmFyYmF6cXV4"}', 'Zm9vYmFy'],
  ["AWS's key id", 'as AKIAIOSFODNN7EXAMPLE now', 'AKIAIOSFODNN7EXAMPLE'],
  ["AWS's secret key", 'aws_secret_access_key=wJalrXUtnFEMI/K7MDENG', 'wJalrXUtnFEMI'],
  ["AWS's secret key in the environment", 'AWS_SECRET_ACCESS_KEY: wJalrXUtnFEMI/K7MDENG', 'wJalrXUtnFEMI'],
  ['a password', 'password=hunter2 user=x', 'hunter2'],
  ['a password in JSON', '{"password": "hunter2 and more", "user": "x"}', 'hunter2 and more'],
  ['a password in Python', "{'password': 'hunter2'}", 'hunter2'],
  ['a token parameter', 'GET /x?token=abcdef&y=1', 'abcdef'],
  ['userinfo of an address', 'postgres://trainyard:hunter2@db:5432/x', 'hunter2'],
  ['userinfo without a password', 'https://abcdef@host/x', 'abcdef'],
  ['a signed address', 'https://b.s3/x?X-Amz-Date=1&X-Amz-Credential=AK%2F1&X-Amz-Signature=0a1b2c', '0a1b2c'],
  ['a signed address of Azure', 'https://b.blob/x?sv=1&sig=abc%3D', 'abc%3D'],
  ['a key of Hugging Face', 'with hf_abcdefghijklmnop', 'abcdefghijklmnop'],
])('%s is not kept', (_name, text, secret) => {
  expect(text).toContain(secret)
  expect(scrub(text)).not.toContain(secret)
  expect(scrub(text)).toContain('***')
})

test.each([
  'dropped rows that are too long dropped=3 limit=4096',
  'step 3 num_trainable_tokens=12 tokens_per_second=812.5 loss=0.25',
  'Line 3, messages[0].role must be text.',
  'artifact:///payloads/team/0a1b is not in the artifact store',
  'see https://example.org/docs?page=2#top and mail a@b.c',
  'The chat template of the base model rejects this conversation: token expected',
  'ValueError: party_member has no eyJ',
])('%s stays as it is', (text) => {
  expect(scrub(text)).toBe(text)
})

test('the rest of a line stays', () => {
  expect(scrub('GET https://u:p@h/x failed, password="a b", then Bearer abcdefgh; retry 3')).toBe(
    'GET https://***@h/x failed, password=***, then Bearer ***; retry 3',
  )
})

test('an address keeps its parts that are not secret, also with several addresses in a word', () => {
  const text = 'a://h#b://u:p@h/x?token=1,c://@ d://h/p?page=2@3 e://u@h?q=1#f://v@h?sig=2'
  expect(scrub(text)).toBe('a://h#b://***@h/x?*** d://h/p?page=2@3 e://***@h?***')
})

test('a line is truncated after its secrets, not inside one', () => {
  expect(truncateScrubbed('see https://user:passphrase@h/x', 24)).toBe('see https://***@h/x')
})

// The beginnings of the patterns, repeated. A matcher that starts again at each of them is slow.
const hostile = [
  'a',
  'a.',
  'a+',
  'https://',
  '://',
  '://?',
  '://@',
  '://#',
  'a://?sig',
  ':/?',
  'token',
  'token ',
  'eyJ',
  'eyJ-',
]
hostile.push(
  'eyJ.',
  'eyJ-a.',
  'Bearer ',
  'basic\t',
  'sk-',
  'ty_',
  'AKIA',
  '=',
  'token=',
  'token="',
  "token='",
  ' ',
  '"',
  'secret_',
)

test.each(hostile)('a line of %j takes little processor time', (part) => {
  const measure = (length: number) => {
    const line = part.repeat(length / part.length)
    const before = process.threadCpuUsage()
    scrub(line)
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1000
  }
  measure(16_000)
  // A report has 65 such lines, so they take a fifth of a second.
  expect(Math.min(measure(16_000), measure(16_000), measure(16_000))).toBeLessThan(10)
})
