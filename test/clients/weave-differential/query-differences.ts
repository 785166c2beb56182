import type { Difference } from './difference.ts'

/** Differences in filters, conditions and orders of calls. */
export const queryDifferences: Difference[] = [
  { name: 'threads in filters', reference: '`thread_ids` and `turn_ids` are ignored.', trainyard: 'They filter.' },
  {
    name: 'an empty list of threads',
    reference: 'An empty list of threads matches every call.',
    trainyard: 'It matches none, as in production.',
  },
  {
    name: '$lt and $lte',
    reference: 'Release 0.52.20 does not know them; release 0.53 added them.',
    trainyard: 'Both are supported.',
  },
  {
    name: 'missing text',
    reference: 'A missing member is null, which is not unequal to anything.',
    trainyard: 'It is the empty text, as in production.',
  },
  {
    name: 'numbers without $convert',
    reference: 'A number is compared with a member as text: 10 comes before 9.',
    trainyard: 'Numbers are compared. Production rejects the query.',
  },
  {
    name: 'times as numbers',
    reference: 'Times are text, which never equals or exceeds a number of seconds.',
    trainyard: 'They are times, as in production.',
  },
  {
    name: 'literals beyond ASCII',
    reference: 'Literals are escaped as in JSON, and do not match other characters.',
    trainyard: 'They match.',
  },
  {
    name: 'quotes in literals',
    reference: 'The same escapes make a quotation mark an error (500).',
    trainyard: 'Quotation marks are supported.',
  },
  {
    name: 'literals that name a column',
    reference: 'SQLite reads a literal with the name of a column as that column.',
    trainyard: 'A literal is always a value.',
  },
  {
    name: 'quotes in filters',
    reference: 'An apostrophe in a filter ends the text in the SQL (500).',
    trainyard: 'Apostrophes are supported.',
  },
  {
    name: 'booleans as text',
    reference: 'SQLite reads true as 1.',
    trainyard: 'A path yields the text `true`, as in production.',
  },
  {
    name: 'text that is no number',
    reference: 'Text converts to the number 0.',
    trainyard: 'It converts to null, which matches nothing, as in production.',
  },
  {
    name: '$convert to exists',
    reference: 'Rejected (400).',
    trainyard: 'It says whether a member exists, as documented.',
  },
  {
    name: 'the computed name in conditions',
    reference: '`summary.weave.trace_name` works in the sort order only.',
    trainyard: 'It works everywhere, as in production.',
  },
  {
    name: 'latency of calls that run',
    reference: 'The latency of a running call is 0.',
    trainyard: 'A running call has no latency, as in production.',
  },
  {
    name: 'feedback in conditions',
    reference: 'Unknown (500).',
    trainyard: 'Conditions can use feedback of calls, as in production. The SDKs use it.',
  },
  { name: 'unknown columns', reference: 'An error (500).', trainyard: 'A 403, as in production.' },
  { name: 'sorting by unknown columns', reference: 'An error (500).', trainyard: 'A 403, as in production.' },
  {
    name: 'versions of ops',
    reference: '`amber:*` also matches `amberine:…`, because the colon is lost.',
    trainyard: 'It matches versions of `amber` only.',
  },
  {
    name: 'spans in filters of ops',
    reference: '`NAME:*` matches calls of published ops only.',
    trainyard: 'It also matches spans of OpenTelemetry with this name.',
  },
  {
    name: 'prefixes of references',
    reference: 'References in filters match every reference that contains them.',
    trainyard: 'Whole references are compared, as in production.',
  },
  {
    name: 'non-ASCII references',
    reference: 'References are stored with escapes, and filters do not find them.',
    trainyard: 'Filters find them.',
  },
  {
    name: 'missing values in sorting',
    reference: 'In ascending order, missing values come first.',
    trainyard: 'They come last in both directions, as in production.',
  },
  {
    name: 'numbers as text in sorting',
    reference: 'Texts that are numbers are sorted as text.',
    trainyard: 'They are sorted as numbers first, as in production.',
  },
  {
    name: 'calls with the same time',
    reference: 'Calls with the same time have the order in which they were written.',
    trainyard: 'The id is part of every sort order, as in production.',
  },
  {
    name: 'time zones',
    reference: 'Times are sorted as the text that arrived, with its offset.',
    trainyard: 'They are sorted as times.',
  },
  { name: 'a limit of 0', reference: 'A limit of 0 means no limit.', trainyard: 'It returns nothing.' },
  {
    name: 'numbers as strings',
    reference: 'A limit of `"5"` means 5.',
    trainyard: 'Rejected (422): members have their documented type.',
  },
  {
    name: 'names that are numbers',
    reference: 'Numbers in paths are positions in lists only.',
    trainyard: 'They can also be names of members.',
  },
  {
    name: 'the project in conditions',
    reference: 'Conditions are compared with the internal name of the project.',
    trainyard: 'They are compared with the name of the project.',
  },
  { name: 'constant conditions', reference: 'Rejected (422).', trainyard: 'Every expression can be a condition.' },
  { name: 'counts with a limit of 0', reference: 'Rejected (400).', trainyard: 'The count is 0, as in production.' },
  {
    name: 'negative limits',
    reference: 'A negative limit means no limit.',
    trainyard: 'Rejected (422), as in production.',
  },
]
