import type { Difference } from './difference.ts'

/** Differences in writing and reading calls. */
export const callDifferences: Difference[] = [
  {
    name: 'repeated starts',
    reference: 'A start that is sent again is an error (500).',
    trainyard: 'The last start counts, because clients resend whole batches.',
  },
  {
    name: 'early ends',
    reference: 'An end before its start is lost.',
    trainyard: 'The end is kept and merged with its start. SDKs send the end first when the start waits for its op.',
  },
  {
    name: 'whole calls',
    reference: 'Calls with start and end in one request are unknown.',
    trainyard: 'The route exists. Newer releases use it.',
  },
  {
    name: 'starts without ids',
    reference: 'A start without ids is rejected (400).',
    trainyard: 'The server creates the missing ids of call and trace, as production does.',
  },
  {
    name: 'deleting a call and its descendant',
    reference: 'A call that is both requested and a descendant of a requested call is counted twice.',
    trainyard: 'It is counted once.',
  },
  {
    name: 'calls of other projects',
    reference: "An end is matched by the call's id alone: one project can end a call of another.",
    trainyard: 'Projects are separate.',
  },
  {
    name: 'display names of other projects',
    reference: 'One project can rename a call of another.',
    trainyard: 'Projects are separate.',
  },
  {
    name: 'unknown statuses',
    reference: '`status_counts` accepts known statuses only.',
    trainyard: 'Summaries are stored as they arrive.',
  },
  {
    name: 'unknown members',
    reference: 'Unknown members are rejected (422).',
    trainyard: 'They are ignored: newer SDKs send members that older servers do not know.',
  },
  {
    name: 'NUL',
    reference: 'The character U+0000 is kept.',
    trainyard: 'Postgres cannot store it. It becomes U+FFFD in every text.',
  },
  {
    name: 'empty ids',
    reference: 'The empty text is kept as the id of a parent or a thread.',
    trainyard: 'The empty text means no id.',
  },
  {
    name: 'empty exceptions',
    reference: 'A call with an empty exception is a success in answers, and an error in conditions.',
    trainyard: 'It is an error in both.',
  },
  {
    name: 'object references as op names',
    reference: 'The name in a reference to an object is used as the name of an op.',
    trainyard: 'The trace name is the whole reference.',
  },
  {
    name: 'unrequested spans',
    reference: 'Spans of OpenTelemetry are returned even without the column `attributes`.',
    trainyard: 'They are returned with `attributes` only.',
  },
  {
    name: 'times as seconds',
    reference: 'Times as numbers of seconds are accepted.',
    trainyard: 'They are rejected (422): times are documented as ISO 8601.',
  },
  {
    name: 'internal references',
    reference: 'References in the internal form of the server are rejected (400).',
    trainyard: 'References are stored as callers write them.',
  },
  {
    name: 'text that begins like a reference',
    reference: 'Text that begins like a reference, but is not one, is rejected (400).',
    trainyard: 'It is ordinary text.',
  },
  {
    name: 'items of the wrong mode',
    reference: 'The mode of a batch item is not checked.',
    trainyard: 'An item of the wrong mode is rejected (422).',
  },
  {
    name: 'deleting missing calls',
    reference: 'A call that does not exist counts as deleted.',
    trainyard: 'Only deleted calls count.',
  },
  {
    name: 'projects of other entities',
    reference: 'There are no entities.',
    trainyard: 'A key works with the projects of its own entity; others are a 403.',
  },
  {
    name: 'projects without an entity',
    reference: 'Any text is a project.',
    trainyard: 'A project without an entity is a 400.',
  },
  {
    name: 'unrequested summaries',
    reference:
      'Without the column `summary`, calls have the status "running", which is computed from columns that were not read.',
    trainyard: 'Without the column, there is no summary.',
  },
  {
    name: 'unrequested sizes',
    reference: 'Counts of calls include a total size of 0 when the request does not ask for one.',
    trainyard: 'The size is null, as in production.',
  },
  {
    name: 'sizes of calls',
    reference: 'The size counts the characters of escaped JSON.',
    trainyard: 'The size counts the bytes of the texts as they arrived.',
  },
]
