import { expect, test } from 'vitest'
import { JsonError, NotJson } from './parse.ts'
import { parseText } from './parse-text.ts'

// In V8 13 and 14, JSON.parse reads the last key of these as one backslash, after another text had that key there.
const other = String.raw`{"model":"m","\\":1}`
const escaped = [
  String.raw`\u006e`,
  String.raw`\/`,
  String.raw`\"`,
  String.raw`\\`,
  String.raw`\n`,
  String.raw`é\u00e9`,
]

test.each(escaped)('a key with an escape is the one that was sent, whatever was parsed before: %s', (key) => {
  const name = JSON.parse(`"${key}"`) as string
  parseText(other)
  const text = `{"model":"m","${key}" :{"n":[1.5,true,null,"${key}"]}}`
  expect(parseText(text)).toEqual({ model: 'm', [name]: { n: [1.5, true, null, name] } })
})

test('keys within values, repeated ones and __proto__ are members like in JSON.parse', () => {
  parseText(String.raw`{"a":1,"\\u006d":2}`)
  const value = parseText(String.raw`[{"a":1,"\u006dax":2,"a":3,"__proto__":{"\t":-0}}]`)
  expect(JSON.stringify(value)).toBe(String.raw`[{"a":3,"max":2,"__proto__":{"\t":0}}]`)
})

test('a text that is not JSON is rejected with the position of its error', () => {
  expect(parseText('{"a":[1]}')).toEqual({ a: [1] })
  expect(() => parseText('[1,]', 10)).toThrow(
    new JsonError('not valid JSON at byte 13, after "[1,": a value is missing'),
  )
  expect(() => parseText(String.raw`{"\n":[1,]}`)).toThrow('not valid JSON at byte 9, after')
  expect(new NotJson()).toBeInstanceOf(JsonError)
})
