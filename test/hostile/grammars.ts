const list = (count: number, item: (index: number) => unknown) => Array.from({ length: count }, (_, at) => item(at))

function nestSchema(depth: number, leaf: object): object {
  let schema = leaf
  for (let level = 0; level < depth; level++) schema = { type: 'object', properties: { a: schema, b: schema } }
  return schema
}

/** Members of chats whose grammars take long to compile. The index makes each different. */
const kinds: ((index: number) => object)[] = [
  (index) => ({ structured_outputs: { json: { enum: list(900, (at) => `${index} ${'a'.repeat(40)} ${at}`) } } }),
  (index) => ({ structured_outputs: { regex: `(a{1,${900 + index}}){1,900}` } }),
  (index) => ({ structured_outputs: { regex: `((((a?){99}){99}){99}){${9 + index}}` } }),
  (index) => ({ structured_outputs: { regex: `(${list(500, (at) => `[a-z]*${index}x${at}`).join('|')})*` } }),
  (index) => ({ structured_outputs: { json: { ...nestSchema(8, { type: 'string', maxLength: 500 + index }) } } }),
  (index) => ({
    response_format: {
      type: 'json_schema',
      json_schema: {
        name: 'answer',
        schema: {
          type: 'array',
          minItems: 400 + index,
          items: { type: 'array', minItems: 400, items: { type: 'integer' } },
        },
      },
    },
  }),
  (index) => ({ structured_outputs: { grammar: `root ::= ${'"a"? '.repeat(2_000)} "${index}"` } }),
  (index) => ({
    structured_outputs: {
      json: {
        $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { type: 'string', pattern: `^(a|a)*${index}$` }] } },
        $ref: '#/$defs/a',
      },
    },
  }),
  (index) => ({
    structured_outputs: { json: { type: 'string', pattern: `^(.*a){${20 + index}}$`, maxLength: 10_000 } },
  }),
  (index) => ({ structured_outputs: { choice: list(990, (at) => `${index} ${at} ${'b'.repeat(40)}`) } }),
]

/** Makes this many different hostile grammars. */
export const makeGrammars = (count: number): object[] => list(count, (at) => kinds[at % kinds.length]!(at)) as object[]
