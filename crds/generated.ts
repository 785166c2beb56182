/** Types of the custom resources. Generated from the YAML of this folder by generate.ts: do not edit. */

/** The parts of Kubernetes' ObjectMeta that we use. */
interface ObjectMeta {
  name?: string
  namespace?: string
  uid?: string
  generation?: number
  resourceVersion?: string
  creationTimestamp?: string
  deletionTimestamp?: string
  labels?: Record<string, string>
  finalizers?: string[]
  annotations?: Record<string, string>
}

/**
 * A base model that vLLM engines serve and that warm trainer pods train adapters for.
 */
export interface BaseModel {
  apiVersion?: string
  kind?: string
  metadata: ObjectMeta
  /**
   * The desired state.
   */
  spec: {
    /**
     * The names that clients send as model or base_model. The first is canonical, the others are aliases.
     *
     * @minItems 1
     * @maxItems 16
     *
     * Items: One name, such as Qwen/Qwen3-4B.
     */
    names: string[]
    /**
     * The source of the weights. Set exactly one of path, hub, s3 and pvc.
     */
    source: {
      /**
       * A folder in the images, relative to its working directory.
       */
      path?: string
      /**
       * A model of the Hugging Face hub, pinned to a revision.
       */
      hub?: {
        /**
         * Its name on the hub, such as Qwen/Qwen3-4B.
         */
        id: string
        /**
         * A commit hash or a tag.
         */
        revision: string
      }
      /**
       * A folder in a bucket. Each cache gets it once. Its objects must not change, and must be complete when the BaseModel is created.
       */
      s3?: {
        /**
         * The folder, as s3://BUCKET/PREFIX.
         */
        uri: string
        /**
         * The address of an S3 service, as https://HOST[:PORT]. The default is Amazon's.
         */
        endpoint?: string
        /**
         * The region of the bucket. The default is that of the pod's AWS settings, or us-east-1 with an endpoint.
         */
        region?: string
      }
      /**
       * A folder in a persistent volume claim, which pods mount read-only.
       */
      pvc?: {
        /**
         * The name of the claim in the namespace of the BaseModel.
         */
        claimName: string
        /**
         * The folder in the claim. The default is the claim's root.
         */
        path?: string
      }
      /**
       * A Secret in the namespace of the BaseModel. For hub, its key token is the access token. For s3, its keys access-key-id and secret-access-key are the credentials; by default, s3 uses those that pods have.
       */
      secretRef?: {
        /**
         * The name of the Secret.
         */
        name: string
      }
      /**
       * Run the Python code that is stored beside the weights, in engines and trainers. A few architectures need it. Anyone who can change the repository then runs code in your pods. Default: false.
       */
      trustRemoteCode?: boolean
    }
    /**
     * Answer chats that name no model. When several BaseModels say so, the one that was created first does.
     */
    default?: boolean
    /**
     * Run the engine and the trainer in one container, where they take turns on one GPU. Chats wait while the trainer has its turn. By default, they have pods of their own.
     */
    colocated?: boolean
    /**
     * Secrets for the registries of the images, in addition to the chart's images.pullSecrets.
     *
     * @maxItems 16
     *
     * Items: One Secret.
     */
    imagePullSecrets?: {
      /**
       * The name of the Secret.
       */
      name: string
    }[]
    /**
     * Where the pods of engines and trainers may run. By default, wherever their resources are.
     */
    scheduling?: {
      /**
       * Labels that a node must have. By default, none.
       */
      nodeSelector?: {
        /**
         * The value of a label.
         */
        [k: string]: string
      }
      /**
       * Taints of nodes that the pods tolerate. By default, none.
       *
       * @maxItems 32
       *
       * Items: One toleration.
       */
      tolerations?: {
        /**
         * The key of the taint. The default is all keys.
         */
        key?: string
        /**
         * How the value is compared. The default is Equal.
         */
        operator?: 'Exists' | 'Equal'
        /**
         * The value of the taint. The default is empty.
         */
        value?: string
        /**
         * The effect of the taint. The default is all effects.
         */
        effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
        /**
         * How long NoExecute is tolerated, in seconds. The default is forever.
         */
        tolerationSeconds?: number
      }[]
      /**
       * Kubernetes' affinity of pods (kubectl explain pod.spec.affinity). By default, none.
       */
      affinity?: Record<string, unknown>
      /**
       * The RuntimeClass, for example nvidia. The default is the cluster's.
       */
      runtimeClassName?: string
      /**
       * The PriorityClass. The default is the cluster's.
       */
      priorityClassName?: string
    }
    /**
     * The volume of downloaded weights and of compiled code. Pods mount it at /cache. The default is the chart's cache, which is an emptyDir: it survives restarts of containers. Set exactly one member.
     */
    cache?: {
      /**
       * A folder of the pod.
       */
      emptyDir?: {
        /**
         * The size above which the pod is evicted, for example 200Gi. By default, there is no limit.
         */
        sizeLimit?: string
      }
      /**
       * A claim. Pods on several nodes need one that is ReadWriteMany.
       */
      persistentVolumeClaim?: {
        /**
         * The name of the claim in the namespace of the BaseModel.
         */
        claimName: string
      }
      /**
       * A folder of the node. It is created if it is missing, and must be writable for the user of the images.
       */
      hostPath?: {
        /**
         * The absolute path.
         */
        path: string
      }
    }
    /**
     * The vLLM pods that serve the base model and its adapters.
     */
    engine?: {
      /**
       * An image to use instead of the chart's images.engine.
       */
      image?: string
      /**
       * The service account of engines. The default is trainyard-engine. The status server accepts another one only if the chart's statusServer.accounts.engine names it.
       */
      serviceAccountName?: string
      /**
       * When nodes pull the image. Default: images.pullPolicy of the chart.
       */
      imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never'
      /**
       * The number of engine pods. 0 serves no chats. Give either replicas or autoscaling. Default: 1.
       */
      replicas?: number
      /**
       * The operator sets the number of engines, from the requests of gateways. No other program may change the replicas of the Deployment. By default the number is fixed.
       */
      autoscaling?: {
        /**
         * The minimum number of engines. With 0, the first chat starts an engine and is held until it is Ready. Default: 1.
         */
        min?: number
        /**
         * The maximum number of engines. Required.
         */
        max: number
        /**
         * How many requests at once each engine should have. One more starts another engine. Default: 64.
         */
        targetInFlight?: number
        /**
         * How long fewer engines must be enough until the others are stopped, in seconds. Default: 300.
         */
        scaleDownDelaySeconds?: number
      }
      /**
       * Additional arguments of vLLM's API server. With several GPUs in resources, --tensor-parallel-size is their number unless an argument of parallelism is here.
       *
       * @maxItems 64
       *
       * Items: One argument, such as --dtype=bfloat16.
       */
      args?: string[]
      /**
       * Additional environment variables of the engine.
       *
       * @maxItems 64
       *
       * Items: One variable.
       */
      env?: {
        /**
         * The name of the variable.
         */
        name: string
        /**
         * The value of the variable.
         */
        value?: string
        /**
         * Where the value comes from. Set exactly one member.
         */
        valueFrom?: {
          /**
           * A key of an object in the namespace of the BaseModel.
           */
          secretKeyRef?: {
            /**
             * The name of the object.
             */
            name: string
            /**
             * The key in it.
             */
            key: string
            /**
             * Whether the object or the key may be missing. The default is false.
             */
            optional?: boolean
          }
          /**
           * A key of an object in the namespace of the BaseModel.
           */
          configMapKeyRef?: {
            /**
             * The name of the object.
             */
            name: string
            /**
             * The key in it.
             */
            key: string
            /**
             * Whether the object or the key may be missing. The default is false.
             */
            optional?: boolean
          }
          /**
           * A field of the pod.
           */
          fieldRef?: {
            /**
             * The path of the field, for example status.hostIP.
             */
            fieldPath: string
          }
        }
      }[]
      /**
       * Resource requests and limits of the container.
       */
      resources?: {
        /**
         * Amounts by the name of the resource, such as nvidia.com/gpu: 1.
         */
        requests?: {
          [k: string]: string | number
        }
        /**
         * Amounts by the name of the resource, such as nvidia.com/gpu: 1.
         */
        limits?: {
          [k: string]: string | number
        }
      }
      /**
       * Additions to the pods, merged as kubectl patch --type strategic does. The operator's labels, service accounts, commands and security settings stay. If the API server rejects the result, the condition Ready says why.
       */
      podTemplate?: {
        /**
         * Labels and annotations of the pods.
         */
        metadata?: {
          /**
           * Added keys and their values. Keys of trainyard.dev and app.kubernetes.io are the operator's.
           */
          labels?: {
            /**
             * The value of a key.
             */
            [k: string]: string
          }
          /**
           * Added keys and their values. Keys of trainyard.dev and app.kubernetes.io are the operator's.
           */
          annotations?: {
            /**
             * The value of a key.
             */
            [k: string]: string
          }
        }
        /**
         * Fields of the pods (kubectl explain pod.spec). A container named engine or trainer is the operator's.
         */
        spec?: Record<string, unknown>
      }
      /**
       * Maximum number of adapters in one batch. Default: 4.
       */
      maxLoras?: number
      /**
       * Maximum number of adapters that an engine keeps in memory. Default: 32.
       */
      maxCpuLoras?: number
      /**
       * The maximum rank of an adapter. vLLM supports these values only. The default is the lowest of them that is at least 16 and at least lora.rank.
       */
      maxLoraRank?: 1 | 8 | 16 | 32 | 64 | 128 | 256 | 320 | 512
      /**
       * Context length in tokens. The default is that of the model.
       */
      maxModelLen?: number
      /**
       * vLLM's parser of the model's tool calls, for example hermes, llama3_json or mistral. By default the engine chooses it by the model's chat template. none serves the model without tools.
       */
      toolCallParser?: string
      /**
       * vLLM's parser of the model's reasoning, for example qwen3 or deepseek_r1. By default the engine chooses it by the model's chat template. none leaves the reasoning in the content.
       */
      reasoningParser?: string
    }
    /**
     * The warm pods that train adapters of this base model.
     */
    trainer?: {
      /**
       * An image to use instead of the chart's images.trainer.
       */
      image?: string
      /**
       * The service account of trainers. The default is trainyard-trainer. The status server accepts another one only if the chart's statusServer.accounts.trainer names it.
       */
      serviceAccountName?: string
      /**
       * When nodes pull the image. Default: images.pullPolicy of the chart.
       */
      imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never'
      /**
       * Additional environment variables of the trainer.
       *
       * @maxItems 64
       *
       * Items: One variable.
       */
      env?: {
        /**
         * The name of the variable.
         */
        name: string
        /**
         * The value of the variable.
         */
        value?: string
        /**
         * Where the value comes from. Set exactly one member.
         */
        valueFrom?: {
          /**
           * A key of an object in the namespace of the BaseModel.
           */
          secretKeyRef?: {
            /**
             * The name of the object.
             */
            name: string
            /**
             * The key in it.
             */
            key: string
            /**
             * Whether the object or the key may be missing. The default is false.
             */
            optional?: boolean
          }
          /**
           * A key of an object in the namespace of the BaseModel.
           */
          configMapKeyRef?: {
            /**
             * The name of the object.
             */
            name: string
            /**
             * The key in it.
             */
            key: string
            /**
             * Whether the object or the key may be missing. The default is false.
             */
            optional?: boolean
          }
          /**
           * A field of the pod.
           */
          fieldRef?: {
            /**
             * The path of the field, for example status.hostIP.
             */
            fieldPath: string
          }
        }
      }[]
      /**
       * Resource requests and limits of the container.
       */
      resources?: {
        /**
         * Amounts by the name of the resource, such as nvidia.com/gpu: 1.
         */
        requests?: {
          [k: string]: string | number
        }
        /**
         * Amounts by the name of the resource, such as nvidia.com/gpu: 1.
         */
        limits?: {
          [k: string]: string | number
        }
      }
      /**
       * Additions to the pods, merged as kubectl patch --type strategic does. The operator's labels, service accounts, commands and security settings stay. If the API server rejects the result, the condition Ready says why.
       */
      podTemplate?: {
        /**
         * Labels and annotations of the pods.
         */
        metadata?: {
          /**
           * Added keys and their values. Keys of trainyard.dev and app.kubernetes.io are the operator's.
           */
          labels?: {
            /**
             * The value of a key.
             */
            [k: string]: string
          }
          /**
           * Added keys and their values. Keys of trainyard.dev and app.kubernetes.io are the operator's.
           */
          annotations?: {
            /**
             * The value of a key.
             */
            [k: string]: string
          }
        }
        /**
         * Fields of the pods (kubectl explain pod.spec). A container named engine or trainer is the operator's.
         */
        spec?: Record<string, unknown>
      }
      /**
       * GPUs of each trainer. Requests this number of nvidia.com/gpu, unless resources name GPUs of any kind. Above 1, torchrun starts one process per GPU. When absent, resources alone decide.
       */
      gpus?: number
      /**
       * The mode of jobs that name none: a warm trainer (Warm), or pods of their own (Dedicated). Default: Warm.
       */
      defaultMode?: 'Warm' | 'Dedicated'
      /**
       * The PriorityClasses that Dedicated jobs may name in spec.priorityClassName. Pods of a class with a higher value may preempt those of others. By default, jobs may name none.
       *
       * @maxItems 16
       *
       * Items: The name of a PriorityClass.
       */
      priorityClassNames?: string[]
      /**
       * The number of trainers that run with the base model loaded.
       */
      warm?: {
        /**
         * The minimum number of them. With 0 and a max, the first job starts a trainer. Default: 1.
         */
        min?: number
        /**
         * The maximum number of them. Above min, the operator starts a trainer for each maxJobs models that have jobs. By default it is min.
         */
        max?: number
        /**
         * How long fewer trainers must be enough until an idle one is stopped, in seconds. Default: 300.
         */
        idleSeconds?: number
      }
      /**
       * The trainer's share of the time on a common GPU (colocated), while chats and jobs both wait. A side that is alone gets all the time. The default is 50.
       */
      timeSharePercent?: number
      /**
       * The maximum length of a trajectory in tokens. Longer ones are left out of training. Default: 2048.
       */
      maxSequenceLength?: number
      /**
       * Tokens that go through the model at once. A higher value needs more memory. By default the trainer chooses it.
       */
      maxBatchTokens?: number
      /**
       * Jobs of different models that one trainer runs concurrently. Default: 4.
       */
      maxJobs?: number
      /**
       * Which jobs may share a batch, each with its own adapter: none (Off), jobs of one entity, or any jobs. Default: Off.
       */
      coBatch?: 'Off' | 'SameEntity' | 'Any'
      /**
       * Seconds between two saves of a running job's progress. 0 saves it after every gradient step. Default: 60.
       */
      saveSeconds?: number
    }
    /**
     * The adapter that training creates.
     */
    lora?: {
      /**
       * The rank of the adapter. Default: 8.
       */
      rank?: number
      /**
       * The adapter is scaled by alpha / rank. Default: 16.
       */
      alpha?: number
      /**
       * Names of the layers that get an adapter. The default is every linear layer of the text decoder, except experts.
       *
       * @minItems 1
       * @maxItems 64
       *
       * Items: The name of one kind of layer, such as q_proj.
       */
      targetModules?: string[]
    }
  }
  /**
   * The observed state, measured from the pods. The operator writes it.
   */
  status?: {
    /**
     * The generation of the spec that the status is about.
     */
    observedGeneration?: number
    /**
     * Why it is, or is not, as it should be, in one word.
     */
    reason?: string
    /**
     * The sentence that belongs to the reason.
     */
    message?: string
    /**
     * The engine pods.
     */
    engine?: {
      /**
       * The number of wanted pods.
       */
      replicas?: number
      /**
       * The number of Ready pods.
       */
      ready?: number
      /**
       * Ready pods, and wanted pods.
       */
      summary?: string
    }
    /**
     * The trainer pods.
     */
    trainers?: {
      /**
       * The number of wanted pods.
       */
      wanted?: number
      /**
       * The number of Ready pods.
       */
      ready?: number
      /**
       * Ready pods, and wanted pods.
       */
      summary?: string
      /**
       * How trainers failed soon after their creation, one after the other. Each comes back after a longer time.
       */
      lastFailure?: {
        /**
         * Their number.
         */
        count?: number
        /**
         * How the last one failed, in one word.
         */
        reason?: string
        /**
         * How the last one failed, as a sentence.
         */
        message?: string
      }
    }
    /**
     * How much of the weights is downloaded, for pods that download now. At most 16 pods.
     *
     * @maxItems 16
     *
     * Items: The download of one pod.
     */
    downloads?: {
      /**
       * The name of the pod.
       */
      pod: string
      /**
       * The bytes that are downloaded.
       */
      doneBytes: number
      /**
       * The bytes of all files.
       */
      totalBytes: number
    }[]
    /**
     * What is true of it, each with its reason and since when.
     *
     * @maxItems 16
     *
     * Items: One condition. Its type is unique.
     */
    conditions?: {
      /**
       * The name of the condition, such as Accepted.
       */
      type: string
      /**
       * Whether it holds.
       */
      status: 'True' | 'False' | 'Unknown'
      /**
       * Why, in one word.
       */
      reason: string
      /**
       * Why, as a sentence.
       */
      message: string
      /**
       * When its status last changed.
       */
      lastTransitionTime: string
      /**
       * The generation of the spec that it is about.
       */
      observedGeneration?: number
    }[]
  }
}

/**
 * A tenant's model, trained step by step from a base model. Each step is a checkpoint (a LoRA adapter).
 */
export interface Model {
  apiVersion?: string
  kind?: string
  metadata: ObjectMeta
  /**
   * The desired state.
   */
  spec: {
    /**
     * Part of the model's name entity/project/name, which is unique.
     */
    entity: string
    /**
     * Part of the model's name entity/project/name, which is unique.
     */
    project: string
    /**
     * Part of the model's name entity/project/name, which is unique.
     */
    name: string
    /**
     * The BaseModel that the model is trained from, in the same namespace.
     */
    baseModelRef: {
      /**
       * The metadata.name of the BaseModel.
       */
      name: string
    }
    /**
     * What happens when this resource is deleted. Retain hides the model: applying the resource again restores it with all its checkpoints. Delete also removes the checkpoints, permanently. Default: Retain.
     */
    deletionPolicy?: 'Retain' | 'Delete'
    /**
     * Keep the newest step loaded on every engine, also while nobody asks for it, and load it again after an engine has started. Of each base model, engine.maxCpuLoras / 2 models can be kept loaded. The condition KeptLoaded says whether this one is. Default: false.
     */
    keepLoaded?: boolean
    /**
     * Names of steps, for example prod for 12, served as entity/project/name:prod. Training never changes them.
     */
    aliases?: {
      /**
       * The step that the alias names.
       */
      [k: string]: number
    }
  }
  /**
   * The observed state. The operator writes it.
   */
  status?: {
    /**
     * The generation of the spec that the status is about.
     */
    observedGeneration?: number
    /**
     * The model's id in the REST interface.
     */
    id?: string
    /**
     * The name that clients use: entity/project/name.
     */
    servedName?: string
    /**
     * The newest step. 0 is the base model itself.
     */
    latestStep?: number
    /**
     * The number of its checkpoints.
     */
    checkpoints?: number
    /**
     * The engines of its base model.
     */
    engines?: {
      /**
       * Their number.
       */
      ready?: number
      /**
       * How many of them have loaded the newest step.
       */
      loaded?: number
      /**
       * Engines with the newest step, and ready engines.
       */
      summary?: string
    }
    /**
     * All aliases of the model, including those that were set over REST.
     */
    aliases?: {
      /**
       * The step that the alias names.
       */
      [k: string]: number
    }
    /**
     * Why it is, or is not, as it should be, in one word.
     */
    reason?: string
    /**
     * The sentence that belongs to the reason.
     */
    message?: string
    /**
     * What is true of it, each with its reason and since when.
     *
     * @maxItems 16
     *
     * Items: One condition. Its type is unique.
     */
    conditions?: {
      /**
       * The name of the condition, such as Accepted.
       */
      type: string
      /**
       * Whether it holds.
       */
      status: 'True' | 'False' | 'Unknown'
      /**
       * Why, in one word.
       */
      reason: string
      /**
       * Why, as a sentence.
       */
      message: string
      /**
       * When its status last changed.
       */
      lastTransitionTime: string
      /**
       * The generation of the spec that it is about.
       */
      observedGeneration?: number
    }[]
  }
}

/**
 * One training of a model on one input. When it succeeds, the model has one more checkpoint.
 */
export interface TrainingJob {
  apiVersion?: string
  kind?: string
  metadata: ObjectMeta
  /**
   * The desired state. What the job trains on is immutable.
   */
  spec: {
    /**
     * The Model to train, in the same namespace.
     */
    modelRef: {
      /**
       * The metadata.name of the Model.
       */
      name: string
    }
    /**
     * RL on trajectories with rewards or SFT on conversations.
     */
    method: 'RL' | 'SFT'
    /**
     * The training data. RL uses trajectory groups in the artifact store, other methods a file of JSON lines.
     */
    inputRef: {
      /**
       * An address in the artifact store that belongs to the model's entity (artifact:///payloads/<entity>/...). For a file of JSON lines also an uploaded data set (wandb-artifact:///<entity>/<project>/<name>:v0), and https:// and s3:// addresses that the administrator allows; they are fetched into the store first.
       */
      uri: string
      /**
       * The SHA-256 of its bytes in hex. Fetched bytes must match it.
       */
      digest?: string
    }
    /**
     * Settings of the method. Absent settings have their defaults.
     */
    config?: {
      /**
       * RL: Above 0 it weakens negative advantages, below 0 positive ones. Default: 0.
       */
      advantageBalance?: number
      /**
       * RL: How far below 1 the importance ratio is clipped. Default: 1 (0.2 with `ppo`).
       */
      epsilon?: number
      /**
       * RL: How far above 1 the importance ratio is clipped. Default: 4 (that of `epsilon` with `ppo`).
       */
      epsilonHigh?: number
      /**
       * RL: Whose importance ratio a token has: its own, its sequence's (the exponential of the mean difference of log-probabilities), the average of both, or their geometric average. Default: token.
       */
      importanceSamplingLevel?: 'token' | 'sequence' | 'average' | 'geometric_average'
      /**
       * RL: This times the difference between a token's new and old log-probability is subtracted from its advantage; nothing when absent.
       */
      kimiK2Tau?: number
      /**
       * The learning rate of AdamW. Default: 5e-6 (RL), 5e-5 (SFT).
       */
      learningRate?: number
      /**
       * SFT, instead of `learningRate`: A list has a rate for each batch; rates beyond the last batch are ignored.
       *
       * @minItems 1
       * @maxItems 20000
       *
       * Items: One value of `learningRate`.
       */
      learningRates?: number[]
      /**
       * RL: The policy loss, CISPO or the clipped loss of PPO. When absent, `ppo` decides. The two must not disagree.
       */
      lossFn?: 'cispo' | 'ppo'
      /**
       * RL: Leave out tokens whose ratio would be clipped. Default: false.
       */
      maskProbRatio?: boolean
      /**
       * RL: The highest importance ratio of a token, whatever the sign of its advantage; unbounded when absent.
       */
      maxNegativeAdvantageImportanceSamplingWeight?: number
      /**
       * RL: The clipped PPO loss instead of CISPO. Default: false.
       */
      ppo?: boolean
      /**
       * RL: Compute the old log-probabilities with the trainer before the first step, instead of using the sampled ones. Default: false.
       */
      precalculateLogprobs?: boolean
      /**
       * RL: Divide advantages by the standard deviation of their group, if `normalizeAdvantages` is true too. Default: true.
       */
      scaleRewards?: boolean
      /**
       * RL: Another name of `scaleRewards` in newer clients, which send both. Either one that is false decides. Default: true.
       */
      normalizeAdvantages?: boolean
      /**
       * RL: Train answers that came without log-probabilities too, as if the model itself had just sampled them. Otherwise they are left out. Default: false.
       */
      allowTrainingWithoutLogprobs?: boolean
      /**
       * RL: Leave out answers that ended because of their limit of tokens. They are context only, and are counted. Default: false.
       */
      maskTruncated?: boolean
      /**
       * RL: How many tokens a packed sequence of the job has at most. Longer results are left out, and counted. More sequences can make more gradient steps.
       */
      packedSequenceLength?: number
      /**
       * RL: The learning rate of a gradient step is multiplied by its number of answers to this power. Metrics have the rate without it. Default: 0.
       */
      numTrajectoriesLearningRateMultiplierPower?: number
      /**
       * RL: How strongly the model is held near the reference. A token loses this much advantage for each nat by which the model has made it likelier than the reference does, relative to the mean of its step. The metric is `kl_policy_ref`. Without effect when it is negative. Default: 0.
       */
      klPenaltyCoef?: number
      /**
       * RL: The model's step that is the reference; the base model when absent or 0.
       */
      klPenaltyReferenceStep?: number
      /**
       * RL: Makes the reference the step that is this many before the one that the job begins from, the base model if there are not so many. Excludes `klPenaltyReferenceStep`.
       */
      klPenaltyStepLag?: number
      /**
       * RL: Whose log-probability of a token is compared with the reference's: that of the model in training, or that of the model that sampled it. Default: sample.
       */
      klPenaltySource?: 'current_learner' | 'sample'
      /**
       * RL: Weigh each token by the ratio of its probabilities in the trainer and in the sampler, at most by this; no weights when absent or 0. It needs `precalculateLogprobs`.
       */
      truncatedImportanceSampling?: number
      /**
       * RL: Accepted, without effect: How many rows of log-probabilities the hosted service computes at once.
       */
      logprobCalculationChunkSize?: number
      /**
       * RL: Accepted, without effect: Draw pictures of packed sequences. Default: false.
       */
      plotTensors?: boolean
      /**
       * RL: Accepted, without effect: Clients send it, and no trainer of theirs reads it. Default: false.
       */
      scaleLearningRateByRewardStdDev?: boolean
      /**
       * SFT: How many rows a batch has. Default: 2.
       */
      batchSize?: number
      /**
       * SFT: Which turns of the assistant are trained: all, or only the last message of each row, which must then be one of the assistant. Default: all.
       */
      assistantTurns?: 'all' | 'last'
      /**
       * SFT: Whether the metrics of the job become rows of its W&B run, and at which step.
       */
      metricLogging?: {
        /**
         * Whether rows are written.
         */
        enabled?: boolean
        /**
         * The `training_step` of these rows.
         */
        targetTrainingStep?: number
      }
    }
    /**
     * What happens after failures that are not the user's.
     */
    retry?: {
      /**
       * The maximum number of attempts after the first one. Default: 5.
       */
      limit?: number
    }
    /**
     * The job fails (StartDeadlineExceeded) if no trainer has begun it this long after its creation. Without it, it waits.
     */
    startDeadlineSeconds?: number
    /**
     * The job fails (DeadlineExceeded) if it is not trained this long after its first start, whatever its attempts.
     */
    activeDeadlineSeconds?: number
    /**
     * Who trains it: a warm trainer of its base model, which has loaded it (Warm), or pods of its own (Dedicated). The default is the base model's trainer.defaultMode.
     */
    mode?: 'Warm' | 'Dedicated'
    /**
     * Dedicated: The pods save their progress and go. The job continues from there when this is false again. No deadline passes while it is Suspended.
     */
    suspend?: boolean
    /**
     * Dedicated: The LocalQueue of Kueue that the job waits in, in the namespace of its pods, which is the operator's.
     */
    queueName?: string
    /**
     * Dedicated: The PriorityClass of the job's pods, one of the base model's trainer.priorityClassNames. The default is that of the base model's trainers. Kueue takes the priority of the job from it too.
     */
    priorityClassName?: string
    /**
     * Its priority among the jobs of its entity that wait for a trainer of the same base model: the highest comes first. Jobs of one model keep their order. It does not matter to other entities. Default: 0.
     */
    priority?: number
    /**
     * The resource is deleted this long after the job's end. The job stays in the REST lists. Without it, the resource is kept.
     */
    ttlSecondsAfterFinished?: number
    /**
     * Cancels the job. This is final.
     */
    cancel?: boolean
  }
  /**
   * The observed state. The operator writes it.
   */
  status?: {
    /**
     * The generation of the spec that the status is about.
     */
    observedGeneration?: number
    /**
     * The job's id in the REST interface.
     */
    id?: string
    /**
     * Where the job is on its way. The last three are final.
     */
    phase?:
      | 'Pending'
      | 'Queued'
      | 'Starting'
      | 'Running'
      | 'Publishing'
      | 'Suspending'
      | 'Suspended'
      | 'Succeeded'
      | 'Failed'
      | 'Cancelled'
    /**
     * Why it is, or is not, as it should be, in one word.
     */
    reason?: string
    /**
     * The reason of the phase: what the job waits for, or what went wrong.
     */
    message?: string
    /**
     * Increases with every start. Writes of earlier attempts are rejected.
     */
    attempt?: number
    /**
     * How far the current attempt is.
     */
    progress?: {
      /**
       * The gradient steps that are done.
       */
      step?: number
      /**
       * The gradient steps of the whole job.
       */
      totalSteps?: number
      /**
       * Step of totalSteps.
       */
      summary?: string
    }
    /**
     * The checkpoint that the job made.
     */
    checkpoint?: {
      /**
       * The step of the model.
       */
      step?: number
      /**
       * The address of its files in the artifact store.
       */
      uri?: string
      /**
       * The SHA-256 of its files in hex.
       */
      digest?: string
    }
    /**
     * How the last attempt failed.
     */
    failure?: {
      /**
       * Who can do something about it: the user, more capacity, or the administrator.
       */
      category?: 'User' | 'Capacity' | 'Internal'
      /**
       * What failed, in one word.
       */
      reason?: string
      /**
       * What failed, as a sentence.
       */
      message?: string
      /**
       * Whether the same job may succeed if it is created again.
       */
      retryable?: boolean
    }
    /**
     * Problems that the phase does not show: the job trained on nothing, or on less than it was given.
     *
     * @maxItems 20
     *
     * Items: One problem.
     */
    warnings?: {
      /**
       * Which problem it is.
       */
      code: string
      /**
       * The problem as a sentence.
       */
      message: string
    }[]
    /**
     * When the current attempt started.
     */
    startTime?: string
    /**
     * When the job ended.
     */
    completionTime?: string
    /**
     * What is true of it, each with its reason and since when.
     *
     * @maxItems 16
     *
     * Items: One condition. Its type is unique.
     */
    conditions?: {
      /**
       * The name of the condition, such as Accepted.
       */
      type: string
      /**
       * Whether it holds.
       */
      status: 'True' | 'False' | 'Unknown'
      /**
       * Why, in one word.
       */
      reason: string
      /**
       * Why, as a sentence.
       */
      message: string
      /**
       * When its status last changed.
       */
      lastTransitionTime: string
      /**
       * The generation of the spec that it is about.
       */
      observedGeneration?: number
    }[]
  }
}
