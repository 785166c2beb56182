import { apiserverMutations } from './apiserver.ts'
import { artifactMutations } from './artifacts.ts'
import { capturedMutations } from './captured.ts'
import { chartPodMutations } from './chart-pods.ts'
import { consoleMutations } from './console.ts'
import { consoleServerMutations } from './console-server.ts'
import { crdMutations } from './crds.ts'
import { databaseMutations } from './db.ts'
import { engineMutations } from './engine.ts'
import { helmMutations } from './helm.ts'
import { inferenceMutations } from './inference.ts'
import { libMutations } from './lib.ts'
import { localMutations } from './local.ts'
import type { Mutation } from './mutation.ts'
import { operatorMutations } from './operator.ts'
import { tracingMutations } from './tracing.ts'
import { traceDatabaseMutations } from './traces-db.ts'
import { trainerMutations } from './trainer.ts'
import { wandbMutations } from './wandb.ts'

/** All mutations, by part. */
export const mutations: Mutation[] = [
  ...libMutations,
  ...artifactMutations,
  ...crdMutations,
  ...consoleMutations,
  ...consoleServerMutations,
  ...operatorMutations,
  ...apiserverMutations,
  ...capturedMutations,
  ...inferenceMutations,
  ...tracingMutations,
  ...wandbMutations,
  ...databaseMutations,
  ...traceDatabaseMutations,
  ...localMutations,
  ...trainerMutations,
  ...engineMutations,
  ...chartPodMutations,
  ...helmMutations,
]
