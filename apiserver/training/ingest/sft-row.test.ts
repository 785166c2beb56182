import { expect, test } from 'vitest'
import cases from '../../../test/cases/sft-rows.json' with { type: 'json' }
import { findRowIssue, hasAnswer } from './sft-row.ts'

// The trainer's tests go through the same cases: trainer/trainyard_trainer/data/dataset_test.py.
test.each(cases.accepted)('$name is accepted', ({ row, answered }) => {
  expect({ issue: findRowIssue(row), answered: hasAnswer(row) }).toEqual({ issue: undefined, answered })
})

test.each(cases.refused)('$name is refused', ({ row }) => {
  expect(findRowIssue(row)).toBeTypeOf('string')
})
