import { expect, test } from 'vitest'
import cases from '../../../test/cases/sft-rows.json' with { type: 'json' }
import { findRowIssue, hasAnswer } from './sft-row.ts'

// The trainer's tests use the same cases: trainer/trainyard_trainer/sft/dataset_test.py.
test.each(cases.accepted)('$name is accepted', ({ row, answered }) => {
  expect({ issue: findRowIssue(row), answered: hasAnswer(row) }).toEqual({ issue: undefined, answered })
})

test.each(cases.refused)('$name is rejected', ({ row }) => {
  expect(findRowIssue(row)).toBeTypeOf('string')
})
