import { callDifferences, queryDifferences } from './call-differences.ts'
import type { Difference } from './difference.ts'

const objects: Difference[] = [
  {
    name: 'publishing an earlier version again',
    reason: 'Nothing happens. In production that version becomes the latest; ours keeps its number.',
  },
  {
    name: 'the latest version after a deletion',
    reason: 'After the latest version is deleted, there is none. It is the newest one left.',
  },
  { name: 'publishing a deleted version again', reason: 'It gets a new number. Ours keeps the one that it had.' },
  {
    name: 'ops and objects of one name',
    reason: 'They count as versions of each other. In production each kind has its own.',
  },
  {
    name: 'steps that lead nowhere',
    reason: 'A reference to a member that is not there is an error inside the reference; null in production.',
  },
  { name: 'references within references', reason: 'They end at the first object. Production goes on inside the next.' },
  {
    name: 'references to the latest version',
    reason: 'Not found. Production refuses them: a reference names a digest.',
  },
  { name: 'text that is no reference', reason: 'An error inside the reference; 400 by its own table of errors.' },
  {
    name: 'classes whose values are wrong',
    reason: 'A value that its class does not allow is an error inside the reference, too.',
  },
  { name: 'names that are too long', reason: 'An error inside the reference; 403 like other names that cannot be.' },
  { name: 'sizes of objects', reason: 'Never answered. They are, when asked for.' },
  {
    name: 'references to values that are no objects',
    reason: 'Only the reference is left of such a value. Production gives the value.',
  },
  {
    name: 'references to nothing in lists of calls',
    reason: 'One reference that leads nowhere refuses the whole list. The call comes as it is.',
  },
  {
    name: 'references to deleted objects in lists of calls',
    reason: 'Only the reference is left. In production the value is null, as it is when the reference is read.',
  },
  { name: 'expanding for conditions only', reason: '`return_expanded_column_values` is ignored.' },
  {
    name: 'tables that two projects have',
    reason: 'A table belongs to the project that has it first, and nobody else can read it.',
  },
  { name: 'the size of a table that is not there', reason: 'An error inside the reference. It has no rows.' },
  {
    name: 'changes to a table that is not there',
    reason: 'The same for changes. There is nothing to change: it is not found.',
  },
]

const others: Difference[] = [
  {
    name: 'numbers in feedback',
    reason: 'Numbers in payloads are never equal to text. In production a path yields text.',
  },
  {
    name: 'missing text in fields of feedback',
    reason: 'A member that is missing is null. In production it is the empty text.',
  },
  { name: '$convert in feedback', reason: "The reference asks SQLite for ClickHouse's functions." },
  { name: 'sorting feedback by its payload', reason: 'The same in sorting.' },
  {
    name: 'null in feedback',
    reason: 'Nothing equals null, as in SQL. In queries of calls null is what is not there; ours does so everywhere.',
  },
  {
    name: 'fields of feedback that are not there',
    reason: 'Refused with 400. Unknown fields of calls are refused with 403, and ours does so everywhere.',
  },
  { name: 'durations of turns', reason: 'Always -1. They are computed.' },
  {
    name: 'feedback of the same id',
    reason: 'Kept twice. Clients send again what they got no answer to: ours keeps the first.',
  },
  {
    name: 'batches with one that is wrong',
    reason: 'Refused with 400, and clients drop the whole batch. With 422 they send it in halves, and drop the one.',
  },
  { name: 'an offset of feedback alone', reason: 'An error inside the reference, which needs a limit, too.' },
  {
    name: 'pages of threads',
    reason: 'Threads without a turn that ended are left out of a page, but take their place in it.',
  },
  {
    name: 'turns at other times',
    reason:
      'The first and the last turn of a thread may lie outside of the times asked for. Production looks at the turns between.',
  },
  { name: 'turns that were deleted', reason: 'Deleted turns still count.' },
  { name: 'an offset of threads alone', reason: 'The same for threads.' },
  { name: 'costs', reason: 'None of their routes work in the reference.' },
  { name: 'sizes of projects', reason: 'Not implemented in the reference.' },
]

/** All of them, by what they are about. */
export const differences: Record<string, Difference[]> = {
  'Writing and reading calls': callDifferences,
  'Filters, conditions and orders': queryDifferences,
  'Objects, references and tables': objects,
  'Feedback, threads, costs': others,
}
