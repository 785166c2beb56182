import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'
import { buildConsole } from '../../console/build.ts'
import { findLaunchOptions } from './chromium.ts'
import setUpCluster from './cluster-setup.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where the browser listens. */
    browser: string
  }
}

/** Builds the console, brings up a stack without engine and trainer, and starts one browser for all files. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const options = await findLaunchOptions()
  await buildConsole()
  const tearDown = await setUpCluster(project)
  const browser = await chromium.launchServer({ ...options, host: '127.0.0.1' })
  project.provide('browser', browser.wsEndpoint())
  return async () => {
    await browser.close()
    await tearDown?.()
  }
}
