import { expect, test } from 'vitest'
import { describeReaction } from './emoji.ts'

// The expected names are those of the Python package `emoji` 2.16.0.
test.each([
  ['a face', '😀', { alias: ':grinning_face:', detoned: '😀', detonedAlias: ':grinning_face:' }],
  ['a skin tone', '👍🏽', { alias: ':thumbs_up_medium_skin_tone:', detoned: '👍', detonedAlias: ':thumbs_up:' }],
  ['a variation selector', '❤️', { alias: ':red_heart:', detoned: '❤️', detonedAlias: ':red_heart:' }],
  [
    'no variation selector where one is possible',
    '❤',
    { alias: ':red_heart:', detoned: '❤️', detonedAlias: ':red_heart:' },
  ],
  [
    'two skin tones, joined',
    '👩🏿‍❤️‍💋‍👨🏻',
    {
      alias: ':kiss_woman_man_dark_skin_tone_light_skin_tone:',
      detoned: '👩‍❤️‍💋‍👨',
      detonedAlias: ':kiss_woman_man:',
    },
  ],
  ['a flag', '🇩🇪', { alias: ':Germany:', detoned: '🇩🇪', detonedAlias: ':Germany:' }],
  ['a flag of a region', '🏴󠁧󠁢󠁳󠁣󠁴󠁿', { alias: ':Scotland:', detoned: '🏴󠁧󠁢󠁳󠁣󠁴󠁿', detonedAlias: ':Scotland:' }],
  ['a keycap', '1️⃣', { alias: ':keycap_1:', detoned: '1️⃣', detonedAlias: ':keycap_1:' }],
  ['letters', 'Côte 🇨🇮', { alias: 'Côte :Côte_d’Ivoire:', detoned: 'Côte 🇨🇮', detonedAlias: 'Côte :Côte_d’Ivoire:' }],
  ['text around it', 'ok 👍', { alias: 'ok :thumbs_up:', detoned: 'ok 👍', detonedAlias: 'ok :thumbs_up:' }],
])('names an emoji with %s', (_name, text, expected) => {
  expect(describeReaction(text)).toEqual(expected)
})

test.each([
  ['nothing', ''],
  ['letters', 'thumbs up'],
  ['a digit', '1'],
  ['two', '👍👍'],
  ['two emoji that are not joined', '👍\u200D😀'],
  ['half a flag', '🇩'],
  ['a name', ':thumbs_up:'],
  ['a long text', `👍${'x'.repeat(1_000)}`],
])('rejects a text with %s', (_name, text) => {
  expect(describeReaction(text)).toBeUndefined()
})
