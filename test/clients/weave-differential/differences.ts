/** Where the reference does not do what is documented or what production does, and ours does. */
export interface Difference {
  /** Both in the tests, which show it, and on the page. */
  name: string
  /** What each does, and where needed why ours is right. */
  reason: string
}

const calls: Difference[] = [
  {
    name: 'repeated starts',
    reason:
      'A start that is sent again is an error inside the reference. Clients resend whole batches: the last one counts.',
  },
  {
    name: 'early ends',
    reason:
      'An end before its start is lost. It is kept, and joins its start: SDKs send the end first when a start waits for its op.',
  },
  {
    name: 'whole calls',
    reason: 'Calls with start and end in one come with newer releases, on a route that the reference lacks.',
  },
  {
    name: 'starts without ids',
    reason: 'Refused. Ids of call and trace are made by the server when a start has none, as in production.',
  },
  {
    name: 'deleting what is below each other',
    reason: 'A call that is asked for and lies below another one asked for is counted twice.',
  },
  {
    name: 'calls of other projects',
    reason: "Ends are found by the call's id alone, so that one project ends another's calls.",
  },
  { name: 'new names of other projects', reason: "So are new names: one project renames another's calls." },
  {
    name: 'counts of other statuses',
    reason: '`status_counts` may only count known statuses. Summaries are kept as they come.',
  },
  {
    name: 'members that nobody knows',
    reason: 'Refused. They are ignored: newer SDKs send members that older servers do not know.',
  },
  {
    name: 'NUL',
    reason: 'The character U+0000 is kept. Postgres has no place for it: it is replaced by U+FFFD, in every text.',
  },
  {
    name: 'summaries that nobody asked for',
    reason:
      'Calls listed without the column `summary` have a status of "running", computed of columns that were not read.',
  },
  {
    name: 'sizes that nobody asked for',
    reason:
      'Counts of calls come with a total size of 0 when the request does not ask for one. Production leaves it null.',
  },
  {
    name: 'sizes of calls',
    reason: 'Characters of escaped JSON are counted. Ours counts bytes of the texts as they came.',
  },
]

const queries: Difference[] = [
  { name: 'threads in filters', reason: '`thread_ids` and `turn_ids` are ignored.' },
  { name: 'no threads at all', reason: 'An empty list of threads matches every call. In production it matches none.' },
  { name: '$lt and $lte', reason: 'Unknown to release 0.52.20; they came with 0.53.' },
  {
    name: 'missing text',
    reason: 'A member that is missing is null, unequal to nothing. In production it is the empty text.',
  },
  {
    name: 'numbers without $convert',
    reason: 'A member is compared with a number as text: 10 comes before 9. Production refuses; ours compares numbers.',
  },
  {
    name: 'times as numbers',
    reason: 'Times are text, which a number of seconds never equals or exceeds. In production they are times.',
  },
  {
    name: 'literals beyond ASCII',
    reason: 'Literals are escaped as in JSON, and match nothing when they hold other characters.',
  },
  { name: 'quotes in literals', reason: 'The same escapes make a quotation mark an error inside the reference.' },
  {
    name: 'literals that name a column',
    reason: 'SQLite reads a literal that is the name of a column as that column.',
  },
  { name: 'quotes in filters', reason: 'An apostrophe in a filter ends the text in the SQL of the reference.' },
  { name: 'booleans as text', reason: 'SQLite reads true as 1. In production a path yields the text `true`.' },
  {
    name: 'text that is no number',
    reason: 'Text converts to the number 0. In production it converts to null, which matches nothing.',
  },
  { name: '$convert to exists', reason: 'Refused. It is documented, and tells whether a member is there.' },
  {
    name: 'the computed name in conditions',
    reason: '`summary.weave.trace_name` is only known to sorting. Production computes it everywhere.',
  },
  {
    name: 'latency of calls that run',
    reason: 'It counts as 0. A call that runs has no latency yet, as in production.',
  },
  {
    name: 'feedback in conditions',
    reason: 'Unknown to the reference. Production knows feedback of calls; the SDKs ask for it.',
  },
  { name: 'columns that are not there', reason: 'An error inside the reference; 403 in production.' },
  { name: 'sorting by columns that are not there', reason: 'The same in sorting.' },
  { name: 'versions of ops', reason: '`amber:*` also means `amberine:…`: the colon is forgotten.' },
  {
    name: 'references that begin another',
    reason: 'References in filters match any that they are a part of. Production compares whole ones.',
  },
  { name: 'references beyond ASCII', reason: 'They are kept with escapes, and filters do not find them.' },
  {
    name: 'missing values in sorting',
    reason: 'Missing values come first when ascending. In production they come last both ways.',
  },
  {
    name: 'numbers as text in sorting',
    reason: 'Texts that are numbers are sorted as text. Production sorts them as numbers first.',
  },
  {
    name: 'calls of the same time',
    reason: 'They come in the order of writing. Production adds the id to every order.',
  },
  { name: 'times of other zones', reason: 'Times are sorted as the text that came, with its offset.' },
  { name: 'a limit of nothing', reason: 'A limit of 0 counts as no limit.' },
  {
    name: 'numbers as texts in members',
    reason: 'A limit of `"5"` counts as 5. Ours takes members of the documented type.',
  },
]

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
    name: 'turns at other times',
    reason:
      'The first and the last turn of a thread may lie outside of the times asked for. Production looks at the turns between.',
  },
  { name: 'turns that were deleted', reason: 'Deleted turns still count.' },
  { name: 'an offset of threads alone', reason: 'An error inside the reference, which needs a limit, too.' },
  { name: 'costs', reason: 'None of their routes work in the reference.' },
  { name: 'sizes of projects', reason: 'Not implemented in the reference.' },
]

/** All of them, by what they are about. */
export const differences: Record<string, Difference[]> = {
  'Writing and reading calls': calls,
  'Filters, conditions and orders': queries,
  'Objects, references and tables': objects,
  'Feedback, threads, costs': others,
}
