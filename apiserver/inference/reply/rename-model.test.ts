import { expect, test } from 'vitest'
import { renameModel } from './rename-model.ts'

const names = { engineName: '11111111-2222-4333-8444-555555555555', requestedName: 'wandb-artifact:///t/p/"n"' }
const renamed = JSON.stringify(names.requestedName)
const rename = (text: string) => Buffer.from(renameModel(Buffer.from(text), names)).toString()

test('a complete reply keeps all bytes except the name', () => {
  const reply = `{"id":"c","model":"${names.engineName}","choices":[{"logprobs":{"content":[{"logprob":-1.0}]}}]}`
  expect(rename(reply)).toBe(`{"id":"c","choices":[{"logprobs":{"content":[{"logprob":-1.0}]}}],"model":${renamed}}`)
})

test("an error of the engine has the client's name", () => {
  const error = { error: { message: `The model ${names.engineName} failed` } }
  expect(JSON.parse(rename(JSON.stringify(error)))).toEqual({
    error: { message: `The model ${names.requestedName} failed` },
  })
})

test.each(['[DONE]', '{"model":', ''])('%j stays unchanged', (text) => {
  expect(rename(text)).toBe(text)
})
