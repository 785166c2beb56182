import { describe, expect, test } from 'vitest'
import { parseRef, tryParseRef } from './parse-ref.ts'

const projectId = 'team/p'

describe('a reference', () => {
  test.each([
    [
      'an object',
      'weave:///team/p/object/a.b-c_d:DIGEST',
      { kind: 'object', name: 'a.b-c_d', digest: 'DIGEST', edges: [] },
    ],
    ['an op', 'weave:///team/p/op/f:D', { kind: 'op', name: 'f', digest: 'D', edges: [] }],
    [
      'a part with quoted names',
      'weave:///team/p/object/o:D/attr/a%2Fb/key/%C3%A9%20%25/index/12/id/ROW',
      {
        kind: 'object',
        name: 'o',
        digest: 'D',
        edges: [
          { kind: 'attr', value: 'a/b' },
          { kind: 'key', value: 'é %' },
          { kind: 'index', value: '12' },
          { kind: 'id', value: 'ROW' },
        ],
      },
    ],
    [
      'a part whose name is not UTF-8',
      'weave:///team/p/op/o:D/key/%ff',
      { kind: 'op', name: 'o', digest: 'D', edges: [{ kind: 'key', value: '%ff' }] },
    ],
    [
      'an object with a slash at the end',
      'weave:///team/p/object/o:D/',
      { kind: 'object', name: 'o', digest: 'D', edges: [] },
    ],
    ['a table', 'weave:///team/p/table/D', { kind: 'table', digest: 'D' }],
    ['a call', 'weave:///team/p/call/ID', { kind: 'call', id: 'ID' }],
    ['a turn', 'weave:///team/p/agent_turn/ID', { kind: 'agent_turn', id: 'ID' }],
  ])('names %s', (_, uri, ref) => {
    expect(parseRef(uri)).toEqual({ projectId, ...ref })
  })

  test.each([
    ['nothing', ''],
    ['of another scheme', 'http:///team/p/object/a:D'],
    ['in the form that only servers use', 'weave-trace-internal:///1/object/a:D'],
    ['without a project', 'weave:///team/object/a:D'],
    ['without an entity', 'weave:////p/object/a:D'],
    ['of an unknown kind', 'weave:///team/p/thing/a:D'],
    ['without a version', 'weave:///team/p/object/a'],
    ['with two versions', 'weave:///team/p/object/a:b:c'],
    ['without a name', 'weave:///team/p/object/:D'],
    ['with an incomplete edge', 'weave:///team/p/object/a:D/attr'],
    ['with an unknown edge', 'weave:///team/p/object/a:D/item/0'],
    ['with an invalid index', 'weave:///team/p/object/a:D/index/x'],
    ['to a part of a call', 'weave:///team/p/call/ID/attr/a'],
  ])('%s is not a reference', (_, uri) => {
    expect(tryParseRef(uri)).toBeUndefined()
    expect(() => parseRef(uri)).toThrow(/^Invalid ref/)
  })
})
