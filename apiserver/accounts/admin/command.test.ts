import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { parseDuration } from './command.ts'
import { garbageUsage } from './garbage-command.ts'
import { findHelp, prepareAdminCommand } from './run.ts'

test.each([
  ['90s', 90],
  ['15m', 900],
  ['1h', 3_600],
  ['30d', 2_592_000],
  ['0s', 0],
])('%s is %i seconds', (text, seconds) => {
  expect(parseDuration(text, '--overlap')).toBe(seconds)
})

test.each<[string, string[], RegExp]>([
  ['key', ['--help'], /^usage: npm run key -- ENTITY/],
  ['limits', ['team', '-h'], /^usage: npm run limits -- ENTITY/],
  ['queue', ['-h'], /^usage: npm run queue -- list/],
  ['garbage', ['--help'], /^usage: npm run garbage -- list\n(.*\n)*.* keep .*\n.* release .*\n.* claim /],
  ['garbage', ['keep', '-h'], /^usage: npm run garbage -- list/],
  ['test', ['-h'], /^usage: .* test --url URL/],
])('%s %j is answered with the usage', (command, args, usage) => {
  expect(findHelp(command, args)).toMatch(usage)
  expect(findHelp(command, ['team'])).toBeUndefined()
})

test('npm run garbage shows its help without a database', async () => {
  const start = (...args: string[]) => promisify(execFile)(process.execPath, ['local/garbage.ts', ...args])
  const [help, refused] = await Promise.allSettled([start('--help'), start('keep')])
  expect(help).toMatchObject({ value: { stdout: `${garbageUsage}\n`, stderr: '' } })
  expect(refused).toMatchObject({ reason: { code: 1, stdout: '', stderr: `${garbageUsage}\n` } })
})

describe('a command is rejected with a message', () => {
  test.each<[string, string[], RegExp]>([
    ['without a command', [], /^usage: .*key\|limits/],
    ['with an unknown name', ['toString', 'team'], /^usage/],
    ['without an entity', ['key'], /^usage: npm run key/],
    ['without the address of a test', ['test', '--train'], /^usage: .* test --url URL/],
    ['with an entity for a test', ['test', 'team', '--url', 'http://x'], /'team'[^]*usage: .* test --url URL/],
    ['with two entities', ['key', 'a', 'b'], /^usage: npm run key/],
    ['with an unknown option', ['key', 'team', '--rule', 'admin'], /--rule[^]*usage/],
    [
      'with an unknown role',
      ['key', 'team', '--role', 'owner'],
      /--role must be one of admin, member, read, not "owner"/,
    ],
    ['with an invalid time', ['key', 'team', '--expires-in', '1 week'], /--expires-in must be a duration/],
    ['with too long a time', ['key', 'team', '--rotate', 'x', '--overlap', '31d'], /--overlap must be at most 30d/],
    ['for a reserved entity', ['key', 'Docs'], /"Docs" is reserved/],
    ['for an entity with the name of a new path', ['key', 'tokenize'], /"tokenize" is reserved/],
    ['for an entity with a slash', ['limits', 'a/b'], /is not a valid entity name/],
    ['with a limit that is not a number', ['limits', 'team', '--queued-jobs', '-1'], /--queued-jobs/],
    ['with an unknown setting', ['limits', 'team', '--token-statistics', 'some'], /off, sampled, all or/],
    ['with no project of the entity', ['limits', 'team', '--trace-project', 'a/b'], /must be the name of a project/],
    [
      'with a project and without one',
      ['limits', 'team', '--trace-project', 'a', '--no-trace-project'],
      /only one of --trace-project PROJECT, --no-trace-project, --clear-trace-project/,
    ],
    ['that changes nothing of a key', ['key', 'team', '--change', 'x'], /^usage: npm run key/],
    ['with a weight of 0', ['limits', 'team', '--weight', '0'], /--weight must be a number from 1 to 100/],
    ['with "none" for a weight', ['limits', 'team', '--weight', 'none'], /--weight must be a number from 1 to 100/],
    ['for an entity with dots in a row', ['key', 'sec..x'], /is not a valid entity name.*two dots in a row/],
    ['garbage without an action', ['garbage'], /^usage: npm run garbage/],
    ['keep without a prefix', ['garbage', 'keep'], /^usage: npm run garbage/],
    ['keep with --all and a prefix', ['garbage', 'keep', '--all', 'payloads/a/b.json'], /^usage: npm run garbage/],
    ['garbage with an unknown action', ['garbage', 'constructor', '--all'], /^usage: npm run garbage/],
    ['list with a prefix', ['garbage', 'list', 'payloads/a/b.json'], /^usage: npm run garbage/],
    ['claim with --all', ['garbage', 'claim', '--all'], /^usage: npm run garbage/],
    ['release without a prefix', ['garbage', 'release'], /^usage: npm run garbage/],
    ['with an unknown option for garbage', ['garbage', 'list', '--every'], /--every[^]*usage/],
    ['queue without an action', ['queue'], /^usage: npm run queue -- list/],
    ['queue with an unknown action', ['queue', 'stop'], /^usage: npm run queue -- list/],
    ['queue list with an entity', ['queue', 'list', 'team'], /^usage: npm run queue -- list/],
    ['a pause of two entities', ['queue', 'pause', 'a', 'b'], /^usage: npm run queue -- list/],
    ['a pause of no entity', ['queue', 'pause', '*'], /"\*" is not a valid entity name/],
    ['a pause with an unknown option', ['queue', 'pause', '--all'], /--all[^]*usage: npm run queue/],
    ['with negative GPU seconds', ['limits', 'team', '--gpu-seconds-per-day', '-5'], /--gpu-seconds-per-day/],
    ['with GPU seconds of half', ['limits', 'team', '--gpu-seconds-per-day', '1.5'], /must be an integer up to/],
    ['with GPU seconds as a duration', ['limits', 'team', '--gpu-seconds-per-day', '1h'], /must be an integer up to/],
    ['with a limit that is too high', ['limits', 'team', '--queued-jobs', '3000000000'], /up to 2147483647/],
  ])('%s', (_, [command, ...args], sentence) => {
    expect(() => prepareAdminCommand(command, args)).toThrow(sentence)
  })
})

test.each<[string, string[]]>([
  ['key', ['--list']],
  ['key', ['--revoke', 'ID']],
  ['key', ['--rotate', 'ID']],
  ['limits', ['--queued-jobs', '1']],
])('an entity keeps its name when it is reserved later: %s %j', (command, args) => {
  expect(prepareAdminCommand(command, ['tokenize', ...args])).toBeTypeOf('function')
})
