import { expect, test } from 'vitest'
import { readAccounts } from './config.ts'

test('colocated pods are accepted as engines and as trainers, named accounts as one of them', () => {
  const named = { TRAINYARD_ENGINE_ACCOUNTS: 'a,b', TRAINYARD_TRAINER_ACCOUNTS: '' }
  expect(readAccounts(named)).toEqual({
    engines: ['trainyard-engine', 'trainyard-colocated', 'a', 'b'],
    trainers: ['trainyard-trainer', 'trainyard-colocated'],
  })
})
