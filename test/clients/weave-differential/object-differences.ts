import type { Difference } from './difference.ts'

/** Differences in objects, references and tables. */
export const objectDifferences: Difference[] = [
  {
    name: 'publishing an earlier version again',
    reference: 'Nothing changes.',
    trainyard: 'The version becomes the latest, as in production. It keeps its index.',
  },
  {
    name: 'the latest version after a deletion',
    reference: 'After the latest version is deleted, there is no latest version.',
    trainyard: 'The newest version that is left becomes the latest.',
  },
  { name: 'publishing a deleted version again', reference: 'It gets a new index.', trainyard: 'It keeps its index.' },
  {
    name: 'ops and objects with the same name',
    reference: 'They count as versions of each other.',
    trainyard: 'Each kind has its own versions, as in production.',
  },
  {
    name: 'paths to missing members',
    reference: 'A reference to a missing member is an error.',
    trainyard: 'The value is null, as in production.',
  },
  {
    name: 'nested references',
    reference: 'A reference ends at the first object.',
    trainyard: 'It continues inside the next object, as in production.',
  },
  {
    name: 'references to the latest version',
    reference: 'Not found (404).',
    trainyard: 'Rejected (400), as in production: a reference names a digest.',
  },
  { name: 'invalid references', reference: 'An error (500).', trainyard: 'A 400, as the interface documents.' },
  {
    name: 'values of a class of the server',
    reference: 'Members are checked, and missing ones get defaults. Only pages of the hosted service send such values.',
    trainyard: 'The value gets the members that name its class.',
  },
  { name: 'names that are too long', reference: 'An error (500).', trainyard: 'A 403, as for other invalid names.' },
  {
    name: 'sizes of objects',
    reference: 'Sizes are never returned.',
    trainyard: 'They are returned when the request asks for them.',
  },
  {
    name: 'references to values other than objects',
    reference: 'Such a reference is returned without the value.',
    trainyard: 'The value is returned, as in production.',
  },
  {
    name: 'references to missing objects in lists of calls',
    reference: 'With one reference to a missing object, the whole list is an error (404).',
    trainyard: 'The call is returned with the reference.',
  },
  {
    name: 'references to deleted objects in lists of calls',
    reference: 'Only the reference is returned.',
    trainyard: 'The value is null, as in production and as in a read of the reference.',
  },
  {
    name: 'expansion for conditions only',
    reference: '`return_expanded_column_values` is ignored.',
    trainyard: 'With `false`, the list returns the references.',
  },
  {
    name: 'equal tables in two projects',
    reference: 'A table belongs to the first project that has it. Other projects cannot read it.',
    trainyard: 'Each project reads its tables.',
  },
  { name: 'the size of a missing table', reference: 'An error (500).', trainyard: 'The table has no rows.' },
  { name: 'changes to a missing table', reference: 'An error (500).', trainyard: 'Not found (404).' },
]
