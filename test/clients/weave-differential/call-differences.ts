import type { Difference } from './difference.ts'

/** In writing and reading calls. */
export const callDifferences: Difference[] = [
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
  { name: 'empty ids', reason: 'The empty text is kept as the id of a parent or a thread. Ours takes it for none.' },
  {
    name: 'empty exceptions',
    reason:
      'A call with an empty exception counts as a success when it is shown, and as an error in conditions. Ours: an error.',
  },
  {
    name: 'ops that are named as objects',
    reason: 'The name in a reference to an object is taken for the name of an op.',
  },
  {
    name: 'spans that nobody asked for',
    reason: 'Spans of OpenTelemetry are answered even where `attributes` are not asked for.',
  },
  { name: 'times as seconds', reason: 'Taken. Times are documented as ISO 8601.' },
  {
    name: 'internal references',
    reason: 'Refused: it has a form of its own to store references. Ours stores what callers write.',
  },
  { name: 'text that begins like a reference', reason: 'Refused for the same reason. It is text like any other.' },
  { name: 'items of another mode', reason: 'The mode of an item is not looked at.' },
  { name: 'deleting what is not there', reason: 'Counted as deleted. Ours counts calls that it deleted.' },
  { name: 'projects of others', reason: 'The reference knows no entities. A key works on the projects of its own.' },
  { name: 'projects without an entity', reason: 'Any text is a project.' },
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

/** In filters, conditions and orders of calls. */
export const queryDifferences: Difference[] = [
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
  { name: 'names that are numbers', reason: 'Numbers in paths mean positions in lists only. They also name members.' },
  { name: 'the project in conditions', reason: 'Projects have internal names, which conditions are compared with.' },
  { name: 'conditions that are only a value', reason: 'Refused. Ours takes any expression for a condition.' },
  { name: 'counting up to nothing', reason: 'Refused. In production the count is 0.' },
  { name: 'limits below zero', reason: 'Count as no limit. Production refuses them.' },
]
