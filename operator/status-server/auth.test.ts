import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT, type CryptoKey } from 'jose'
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import { authenticate } from './auth.ts'
import { IssuerKeys, type Issuer } from './issuer-keys.ts'

const issuerName = 'https://cluster.example'
const podUid = '7d0c1de0-6f4b-4f0a-9d0b-3a4f9cf0c7e1'
let privateKey: CryptoKey
let otherKey: CryptoKey
let issuer: Issuer

beforeAll(async () => {
  const pair = await generateKeyPair('RS256')
  privateKey = pair.privateKey
  otherKey = (await generateKeyPair('RS256')).privateKey
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  issuer = { name: issuerName, getKey: createLocalJWKSet({ keys: [jwk] }) }
})

afterEach(() => vi.useRealTimers())

const trainers = { namespace: 'trainyard', serviceAccounts: ['trainyard-trainer', 'gpu-trainer'] } as const
const trainerPod = {
  namespace: 'trainyard',
  pod: { name: 'tiny-chat-trainer-1', uid: podUid },
  serviceaccount: { name: 'trainyard-trainer', uid: 'b' },
}

interface TokenParts {
  audience?: string
  issuer?: string
  about?: object
  expires?: string
  kid?: string
  key?: CryptoKey
}

function signToken(parts: TokenParts = {}): Promise<string> {
  return new SignJWT({ 'kubernetes.io': parts.about ?? trainerPod })
    .setProtectedHeader({ alg: 'RS256', kid: parts.kid ?? 'one' })
    .setAudience(parts.audience ?? 'trainyard-status')
    .setIssuer(parts.issuer ?? issuerName)
    .setIssuedAt()
    .setExpirationTime(parts.expires ?? '1h')
    .sign(parts.key ?? privateKey)
}

const known = () => new IssuerKeys(async () => issuer)

test("a trainer pod's token identifies its pod", async () => {
  const pod = await authenticate(`Bearer ${await signToken()}`, known(), trainers)
  expect(pod).toEqual({ uid: podUid, name: 'tiny-chat-trainer-1' })
})

test('a trainer with an account that the chart names is accepted', async () => {
  const about = { ...trainerPod, serviceaccount: { name: 'gpu-trainer' } }
  await expect(authenticate(`Bearer ${await signToken({ about })}`, known(), trainers)).resolves.toBeDefined()
})

test.each<[string, TokenParts, string]>([
  ['another audience', { audience: 'https://kubernetes.default.svc' }, '"aud"'],
  ['another issuer', { issuer: 'https://elsewhere.example' }, '"iss"'],
  ['an expired time', { expires: '-1h' }, '"exp"'],
  ['a key that the cluster does not have', { kid: 'two' }, 'no applicable key'],
  ['another namespace', { about: { ...trainerPod, namespace: 'default' } }, 'trainyard/trainyard-trainer'],
  ['another account', { about: { ...trainerPod, serviceaccount: { name: 'default' } } }, 'trainyard/trainyard-trainer'],
  ['no account', { about: { ...trainerPod, serviceaccount: {} } }, 'trainyard/trainyard-trainer'],
  ['no pod', { about: { ...trainerPod, pod: undefined } }, 'not bound to a pod'],
  ['an invalid pod uid', { about: { ...trainerPod, pod: { name: 'a', uid: 'b' } } }, 'not bound to a pod'],
])('a token with %s is rejected with 401', async (_name, parts, sentence) => {
  const refused = authenticate(`Bearer ${await signToken(parts)}`, known(), trainers)
  await expect(refused).rejects.toMatchObject({ status: 401, message: expect.stringContaining(sentence) })
})

test("an engine's token is accepted for the operations of engines only, and a trainer's for those of trainers only", async () => {
  const engines = { ...trainers, serviceAccounts: ['trainyard-engine'] } as const
  const engine = await signToken({ about: { ...trainerPod, serviceaccount: { name: 'trainyard-engine' } } })
  expect(await authenticate(`Bearer ${engine}`, known(), engines)).toMatchObject({ uid: podUid })
  await expect(authenticate(`Bearer ${engine}`, known(), trainers)).rejects.toMatchObject({ status: 401 })
  await expect(authenticate(`Bearer ${await signToken()}`, known(), engines)).rejects.toMatchObject({ status: 401 })
})

test('a token with a signature by another key is rejected with 401', async () => {
  const refused = authenticate(`Bearer ${await signToken({ key: otherKey })}`, known(), trainers)
  await expect(refused).rejects.toMatchObject({ status: 401, message: expect.stringContaining('signature') })
})

test.each([undefined, '', 'Bearer', 'Basic YTpi', 'Bearer a b', 'Bearer not-a-token', 'Bearer a.b.c'])(
  'the header %j is rejected with 401',
  async (header) => {
    await expect(authenticate(header, known(), trainers)).rejects.toMatchObject({ status: 401 })
  },
)

test('an unsigned token is rejected', async () => {
  const [, payload] = (await signToken()).split('.')
  const header = Buffer.from('{"alg":"none"}').toString('base64url')
  const refused = authenticate(`Bearer ${header}.${payload}.`, known(), trainers)
  await expect(refused).rejects.toMatchObject({ status: 401 })
})

test('while kube-apiserver is unavailable, tokens are checked with known keys, and without any the answer is 503', async () => {
  let away = true
  const keys = new IssuerKeys(async () => {
    if (away) throw new Error('connect ECONNREFUSED')
    return issuer
  })
  const header = `Bearer ${await signToken()}`
  await expect(authenticate(header, keys, trainers)).rejects.toMatchObject({ status: 503 })
  away = false
  await authenticate(header, keys, trainers)
  away = true
  expect(await authenticate(header, keys, trainers)).toMatchObject({ uid: podUid })
})

test('a token is checked once for each reading of the keys, and not accepted after its time or with keys that do not fit', async () => {
  let checks = 0
  const count = (given: Issuer): Issuer => ({ ...given, getKey: (...args) => (checks++, given.getKey(...args)) })
  const header = `Bearer ${await signToken()}`
  const keys = (given: Issuer) => new IssuerKeys(async () => given)
  const first = keys(count(issuer))
  for (let request = 0; request < 3; request++) await authenticate(header, first, trainers)
  expect(checks).toBe(1)
  await authenticate(header, keys(count(issuer)), trainers)
  expect(checks).toBe(2)
  const withoutKey = keys({ ...issuer, getKey: createLocalJWKSet({ keys: [] }) })
  await expect(authenticate(header, withoutKey, trainers)).rejects.toMatchObject({ status: 401 })
  vi.useFakeTimers({ now: Date.now() + 2 * 3600_000, toFake: ['Date'] })
  await expect(authenticate(header, first, trainers)).rejects.toMatchObject({ status: 401 })
})

test('a new key of the cluster is read at the first token that it signed', async () => {
  let nowMs = 0
  let rotated = false
  const reads: number[] = []
  const old = { ...issuer, getKey: createLocalJWKSet({ keys: [] }) }
  const keys = new IssuerKeys(
    async () => {
      reads.push(nowMs)
      return rotated ? issuer : old
    },
    () => nowMs,
  )
  const header = `Bearer ${await signToken()}`
  await expect(authenticate(header, keys, trainers)).rejects.toMatchObject({ status: 401 })
  rotated = true
  // Bad tokens must not become requests to kube-apiserver, so the keys are not read again at once.
  await expect(authenticate(header, keys, trainers)).rejects.toMatchObject({ status: 401 })
  nowMs = 2_000
  expect(await authenticate(header, keys, trainers)).toMatchObject({ uid: podUid })
  expect(reads).toEqual([0, 2_000])
})

test('concurrent requests read the keys once, and old keys are renewed in the background', async () => {
  let nowMs = 0
  let reads = 0
  const keys = new IssuerKeys(
    async () => {
      reads++
      return issuer
    },
    () => nowMs,
  )
  await Promise.all(Array.from({ length: 10 }, () => keys.get()))
  expect(reads).toBe(1)
  nowMs = 11 * 60_000
  await Promise.all([keys.get(), keys.get()])
  expect(reads).toBe(2)
})
