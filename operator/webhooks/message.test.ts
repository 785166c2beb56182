import { expect, test } from 'vitest'
import { signBody, writeBody } from './message.ts'

test("a body describes the event, with times in the API's format", () => {
  const delivery = {
    id: 'd',
    webhookId: 'w',
    claim: 'c',
    attempts: 1,
    url: 'https://example.com',
    failures: 0,
    eventId: 'e',
    kind: 'training_job.succeeded',
    at: new Date('2026-01-01T00:00:01Z'),
    data: { id: 'j', state: 'Succeeded', started_at: null, finished_at: '2026-01-01T02:00:00.123456+02:00' },
  }
  expect(JSON.parse(writeBody(delivery))).toEqual({
    id: 'e',
    type: 'training_job.succeeded',
    created_at: '2026-01-01T00:00:01.000Z',
    data: {
      training_job: { id: 'j', state: 'Succeeded', started_at: null, finished_at: '2026-01-01T00:00:00.123Z' },
    },
  })
})

// With OpenSSL: printf '%s' '1767225600.{"id":"e"}' | openssl dgst -sha256 -hmac whsec_a
test('a signature is HMAC-SHA256 of time and body, once for each secret', () => {
  expect(signBody('{"id":"e"}', ['whsec_a', 'whsec_b'], 1767225600)).toBe(
    't=1767225600,v1=aaf3e18af68bc67498a857afd74ed6ff4a53f7f5cda1469c9a4895298bed22af,v1=dbd88d627f30a6219ccb2df2bbd92296ce55cfa957f5a18153c4b3b22ee75fdf',
  )
})
