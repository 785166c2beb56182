import type { Difference } from './difference.ts'

/** Differences in feedback, threads, costs and projects. */
export const otherDifferences: Difference[] = [
  {
    name: 'numbers in feedback',
    reference: 'Numbers in payloads never equal text.',
    trainyard: 'A path yields text, as in production.',
  },
  {
    name: 'missing text in fields of feedback',
    reference: 'A missing member is null.',
    trainyard: 'It is the empty text, as in production.',
  },
  {
    name: '$convert in feedback',
    reference: "An error (500): the query uses ClickHouse's functions in SQLite.",
    trainyard: 'Supported.',
  },
  { name: 'sorting feedback by its payload', reference: 'The same error.', trainyard: 'Supported.' },
  {
    name: 'null in feedback',
    reference: 'Nothing equals null, as in SQL.',
    trainyard: 'null equals a missing value, as in queries of calls.',
  },
  {
    name: 'unknown fields of feedback',
    reference: 'Rejected with 400.',
    trainyard: 'Rejected with 403, as for unknown fields of calls.',
  },
  { name: 'durations of turns', reference: 'Always -1.', trainyard: 'They are computed.' },
  {
    name: 'feedback with the same id',
    reference: 'It is stored twice.',
    trainyard: 'The first is kept: clients repeat a request that got no answer.',
  },
  {
    name: 'batches with an invalid item',
    reference: 'Rejected with 400. Clients then drop the whole batch.',
    trainyard: 'Rejected with 422. Clients then send the batch in halves, and drop only the invalid item.',
  },
  {
    name: 'a feedback offset without a limit',
    reference: 'An error (500): it needs a limit too.',
    trainyard: 'An offset works alone.',
  },
  {
    name: 'pages of threads',
    reference: 'Threads without a finished turn are left out of a page, but use up its limit.',
    trainyard: 'They do not use up the limit.',
  },
  {
    name: 'turns outside of the requested times',
    reference: 'The first and the last turn of a thread may be outside of the requested times.',
    trainyard: 'Only turns within the times count, as in production.',
  },
  { name: 'deleted turns', reference: 'Deleted turns still count.', trainyard: 'They do not count.' },
  {
    name: 'a thread offset without a limit',
    reference: 'An error (500): it needs a limit too.',
    trainyard: 'An offset works alone.',
  },
  { name: 'costs', reference: 'None of the cost routes work (500).', trainyard: 'They work.' },
  { name: 'sizes of projects', reference: 'Not implemented (500).', trainyard: 'Implemented.' },
]
