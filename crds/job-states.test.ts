import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { isTerminal, jobPhases, jobStates } from './job-states.ts'

interface Definition {
  spec: { versions: { schema: { openAPIV3Schema: { properties: { status: PhaseOwner } } } }[] }
}

interface PhaseOwner {
  properties: { phase: { enum: string[] } }
}

test('the phases of the TrainingJob resource are those of a job, and every state is one of them', async () => {
  const yaml = await readFile(path.join(import.meta.dirname, 'trainingjobs.yaml'), 'utf8')
  const { versions } = (parse(yaml) as Definition).spec
  const phases = versions.map(({ schema }) => schema.openAPIV3Schema.properties.status.properties.phase.enum)
  expect(phases).toEqual(versions.map(() => [...jobPhases]))
  expect(jobPhases).toEqual(expect.arrayContaining([...jobStates]))
})

test('a job can leave every state except the last three', () => {
  expect(jobStates.filter((state) => isTerminal(state))).toEqual(['Succeeded', 'Failed', 'Cancelled'])
})
