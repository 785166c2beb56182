import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { describeRowsRequest, rlRequestMembers } from './request.ts'
import { trainingJobSchema } from '../training-jobs/schema.ts'

test('a job presents each member of its request', () => {
  const members = Object.keys({ ...rlRequestMembers, ...describeRowsRequest('SFT').properties })
  expect(Object.keys(trainingJobSchema.properties)).toEqual(expect.arrayContaining(members))
})

test('docs/jobs.md names each member of a request and of a job', async () => {
  const text = await readFile('docs/jobs.md', 'utf8')
  const members = { ...rlRequestMembers, ...describeRowsRequest('SFT').properties, ...trainingJobSchema.properties }
  expect(Object.keys(members).filter((name) => !text.includes(`\`${name}\``))).toEqual([])
})
