import { readFile } from 'node:fs/promises'
import path from 'node:path'

/** The results of tests, from the runners' own reports. */
export interface Outcome {
  passed: number
  failed: number
  /** The failed tests, with their errors. */
  failures: string[]
  skipped: string[]
  /** Seconds by file. */
  files: Map<string, number>
}

export const noTests = (): Outcome => ({ passed: 0, failed: 0, failures: [], skipped: [], files: new Map() })

interface VitestReport {
  numPassedTests: number
  numFailedTests: number
  testResults: VitestFile[]
}

interface VitestFile {
  name: string
  startTime: number
  endTime: number
  status: string
  /** Why the whole file failed, if it did. */
  message: string
  assertionResults: { status: string; fullName: string; failureMessages: string[] }[]
}

export async function readVitestReport(file: string, root: string): Promise<Outcome> {
  const report = JSON.parse(await readFile(file, 'utf8')) as VitestReport
  const tests = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map((test) => ({ ...test, file: path.relative(root, name) })),
  )
  const brokenFiles = report.testResults.filter(
    (result) => result.status === 'failed' && result.assertionResults.every((test) => test.status !== 'failed'),
  )
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + brokenFiles.length,
    failures: [
      ...tests
        .filter((test) => test.status === 'failed')
        .map((test) => `${test.file}: ${test.fullName}\n${test.failureMessages.join('\n')}`),
      ...brokenFiles.map(({ name, message }) => `${path.relative(root, name)}\n${message}`),
    ],
    skipped: tests.filter((test) => test.status === 'skipped').map((test) => test.fullName),
    files: new Map(
      report.testResults.map(({ name, startTime, endTime }) => [
        path.relative(root, name),
        (endTime - startTime) / 1000,
      ]),
    ),
  }
}

const failedCase = /<testcase classname="([^"]*)" name="([^"]*)"[^>]*><(?:failure|error) message="([^"]*)"/g

const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", '#10': '\n', amp: '&' }

const unescapeXml = (text: string) => text.replace(/&([#\w]+);/g, (whole, name: string) => entities[name] ?? whole)

export async function readJunit(file: string, folder: string): Promise<Outcome> {
  const xml = await readFile(file, 'utf8')
  const count = (name: string) => Number(new RegExp(`<testsuite [^>]*\\b${name}="(\\d+)"`).exec(xml)?.[1])
  const failed = count('failures') + count('errors')
  const skipped = [...xml.matchAll(/<testcase [^>]*name="([^"]*)"[^>]*><skipped [^>]*message="([^"]*)"/g)]
  return {
    passed: count('tests') - failed - count('skipped'),
    failed,
    failures: [...xml.matchAll(failedCase)].map(
      ([, module, name, why]) => `${module}: ${unescapeXml(`${name}\n${why}`)}`,
    ),
    skipped: skipped.map(([, name, reason]) => `${name}: ${reason}`),
    files: sumByFile(xml, folder),
  }
}

/** pytest reports a case's module, and its time including fixtures. */
function sumByFile(xml: string, folder: string): Map<string, number> {
  const files = new Map<string, number>()
  for (const [, module, seconds] of xml.matchAll(/<testcase classname="([^"]*)" [^>]*?\btime="([\d.]+)"/g)) {
    const file = `${path.join(folder, ...module!.split('.'))}.py`
    files.set(file, (files.get(file) ?? 0) + Number(seconds))
  }
  return files
}
