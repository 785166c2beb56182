import { writeFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { noTests, readJunit, readVitestReport } from './reports.ts'
import { runSuites, type Suite } from './suites.ts'

let lines: string[]
beforeEach(() => {
  lines = []
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(...line.split('\n')))
  vi.spyOn(console, 'error').mockImplementation(() => {})
})
afterEach(() => {
  vi.restoreAllMocks()
  process.exitCode = undefined
})

const suite = (name: string, run: () => Promise<object>): Suite => ({
  name,
  run: async () => ({ ...noTests(), ...(await run()) }),
})

test('the last line is the sum of all lanes, after the times of suites and the slowest files', async () => {
  const files = new Map([
    ['quick.test.ts', { seconds: 1, passed: 1, failed: 0 }],
    ['slow.test.ts', { seconds: 90, passed: 1, failed: 0 }],
  ])
  await runSuites([
    [suite('one', async () => ({ passed: 2, files })), suite('two', async () => ({ passed: 1, skipped: ['a'] }))],
    [suite('three', async () => ({ passed: 4 }))],
  ])
  expect(lines.at(-1)).toBe('7 passed, 0 failed')
  expect(lines).toContain('skipped: a')
  expect(lines.filter((line) => line.startsWith('| '))).toEqual([
    '| suite | time |',
    '| one | 0 s |',
    '| three | 0 s |',
    '| two | 0 s |',
    '| file | time |',
    '| slow.test.ts | 90 s |',
    '| quick.test.ts | 1 s |',
  ])
  expect(process.exitCode).toBe(0)
})

test('failures are repeated above the sum, and long ones are truncated', async () => {
  const failures = [`a.test.ts: adds\n${'line\n'.repeat(100)}`]
  await runSuites([[suite('one', async () => ({ failed: 1, failures })), suite('two', async () => ({ passed: 3 }))]])
  expect(lines).toContain('✗ a.test.ts: adds')
  expect(lines.filter((line) => line === 'line')).toHaveLength(24)
  expect(lines.at(-1)).toBe('3 passed, 1 failed')
})

test('a suite that throws is a failure, and later suites still run', async () => {
  const broken = suite('broken', () => Promise.reject(new Error('no disk')))
  await runSuites([[broken, suite('next', async () => ({ passed: 1 }))]])
  expect([lines.at(-1), process.exitCode]).toEqual(['1 passed, 1 failed', 1])
})

test('reports have counts, failures, skipped tests and seconds by file', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'trainyard-reports-'))
  try {
    const [json, xml] = [path.join(folder, 'a.json'), path.join(folder, 'a.xml')]
    const assertionResults = [
      { status: 'passed', fullName: 'a', failureMessages: [] },
      { status: 'skipped', fullName: 'b', failureMessages: [] },
      { status: 'failed', fullName: 'c', failureMessages: ['1 is not 2'] },
    ]
    const whole = {
      name: '/repository/test/a.test.ts',
      startTime: 1_000,
      endTime: 3_500,
      status: 'passed',
      assertionResults,
    }
    const broken = {
      ...whole,
      name: '/repository/test/b.test.ts',
      status: 'failed',
      message: 'no import',
      assertionResults: [],
    }
    const report = { numPassedTests: 1, numFailedTests: 1, testResults: [whole, broken] }
    await writeFile(json, JSON.stringify(report))
    await writeFile(
      xml,
      '<testsuites><testsuite name="pytest" errors="0" failures="1" skipped="1" tests="3" time="9.1">' +
        '<testcase classname="trainyard_trainer.rl.loss_test" name="test_a" time="1.250" />' +
        '<testcase classname="trainyard_trainer.rl.loss_test" name="test_b[x]" time="0.500"><failure message="1 &lt; 2&#10;no">' +
        '</failure></testcase><testcase classname="gpu.all_test" name="test_c" time="0.000">' +
        '<skipped type="pytest.skip" message="no GPU"></skipped></testcase></testsuite></testsuites>',
    )
    expect(await readVitestReport(json, '/repository')).toEqual({
      passed: 1,
      failed: 2,
      failures: ['test/a.test.ts: c\n1 is not 2', 'test/b.test.ts\nno import'],
      skipped: ['b'],
      quarantined: [],
      files: new Map([
        ['test/a.test.ts', { seconds: 2.5, passed: 1, failed: 1 }],
        ['test/b.test.ts', { seconds: 2.5, passed: 0, failed: 1 }],
      ]),
    })
    expect(await readJunit(xml, 'trainer')).toEqual({
      passed: 1,
      failed: 1,
      failures: ['trainyard_trainer.rl.loss_test: test_b[x]\n1 < 2\nno'],
      skipped: ['test_c: no GPU'],
      quarantined: [],
      files: new Map([
        ['trainer/trainyard_trainer/rl/loss_test.py', { seconds: 1.75, passed: 1, failed: 1 }],
        ['trainer/gpu/all_test.py', { seconds: 0, passed: 0, failed: 0 }],
      ]),
    })
  } finally {
    await rm(folder, { recursive: true })
  }
})
