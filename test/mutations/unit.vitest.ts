import type { TestProjectInlineConfiguration } from 'vitest/config'
import config from '../../vitest.config.ts'

const projects = config.test!.projects as TestProjectInlineConfiguration[]

/** The project `unit` alone, for Stryker, which would run every project. */
export default projects.find(({ test }) => test?.name === 'unit')
