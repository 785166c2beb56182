import type { Mutation } from './mutation.ts'

export const artifactMutations: Mutation[] = [
  {
    fault: 'a process does not wait for the key to its bucket',
    file: 'artifacts/store/misconfigured.ts',
    find: 'cause instanceof S3KeyMissing',
    replace: 'false',
    test: 'test/store/misconfigured-store.test.ts',
  },
  {
    fault: 'the key to a bucket is read once',
    file: 'lib/s3-key.ts',
    find: '    expiration: new Date(),\n',
    replace: '    expiration: new Date(8.64e15),\n',
    test: 'test/store/misconfigured-store.test.ts',
  },
  {
    fault: 'a volume of another user is only unavailable',
    file: 'artifacts/store/folder-access.ts',
    find: "new Set(['EACCES', ",
    replace: 'new Set([',
    test: 'test/store/misconfigured-store.test.ts',
  },
  {
    fault: 'a job trains on the data of an entity whose name begins with its own',
    file: 'artifacts/layout.ts',
    find: "folderOf('blob', { entity })].some((folder) => key.startsWith(`${folder}/`))",
    replace: "folderOf('blob', { entity })].some((folder) => key.startsWith(folder))",
    test: 'artifacts/layout.test.ts',
  },
  {
    fault: 'a key leads out of the store',
    file: 'artifacts/store/keys.ts',
    find: " || key.includes('..')",
    replace: '',
    test: 'artifacts/store/keys.test.ts',
  },
  {
    fault: 'a key of S3 has dot segments',
    file: 'artifacts/inputs/address.ts',
    find: " || key.split('/').some((part) => part === '.' || part === '..')",
    replace: '',
    test: 'artifacts/inputs/address.test.ts',
  },
  {
    fault: 'the digest of fetched data is not verified',
    file: 'artifacts/inputs/fetch.ts',
    find: 'if (digest === null || digest === stored.digest) return stored',
    replace: "if (digest === null || digest !== '') return stored",
    test: 'test/faults/sft-jobs.test.ts',
  },
]
