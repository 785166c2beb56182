{{/* Labels of every object. Call with (dict "root" $ "component" "apiserver"). */}}
{{- define "trainyard.labels" -}}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{ include "trainyard.selector" . }}
{{- end }}

{{- define "trainyard.selector" -}}
app.kubernetes.io/name: trainyard
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* REPOSITORY:TAG or REPOSITORY@DIGEST, in the mirror if there is one. Call with (dict "root" $ "image" .Values.images.control). */}}
{{- define "trainyard.image" -}}
{{- with .root.Values.images.registry }}{{ . }}/{{ regexReplaceAll "^[^/]+/" $.image.repository "" }}{{ else }}{{ .image.repository }}{{ end -}}
{{- with .image.digest }}@{{ . }}{{ else }}:{{ .image.tag | default .root.Chart.AppVersion }}{{ end }}
{{- end }}

{{/* The images of engines and trainers, as JSON. */}}
{{- define "trainyard.podImages" -}}
{{- $all := dict -}}
{{- range $component := list "engine" "trainer" -}}
{{- $images := dict -}}
{{- range $device, $image := index $.Values.images $component -}}
{{- $_ := set $images $device (include "trainyard.image" (dict "root" $ "image" $image)) -}}
{{- end -}}
{{- $_ := set $all $component $images -}}
{{- end -}}
{{ toJson $all }}
{{- end }}

{{/* The pod volume source of the artifact store, as JSON. */}}
{{- define "trainyard.artifacts" -}}
{{- $claim := .Values.artifacts.persistentVolumeClaim -}}
{{- if .Values.artifacts.hostPath.path -}}
{{ dict "hostPath" (dict "path" .Values.artifacts.hostPath.path) | toJson }}
{{- else -}}
{{ dict "persistentVolumeClaim" (dict "claimName" (ternary "trainyard-artifacts" $claim.existing $claim.create)) | toJson }}
{{- end -}}
{{- end }}

{{/* Environment by which a control part finds the artifact store. */}}
{{- define "trainyard.artifactsEnv" -}}
{{- $s3 := .Values.artifacts.s3 -}}
{{- if $s3.bucket -}}
- name: TRAINYARD_ARTIFACTS
  value: s3://{{ $s3.bucket }}{{ with $s3.prefix }}/{{ . }}{{ end }}
{{- with $s3.endpoint }}
- name: TRAINYARD_S3_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- with $s3.region }}
- name: TRAINYARD_S3_REGION
  value: {{ . | quote }}
{{- end }}
{{- if $s3.secretName }}
- name: TRAINYARD_S3_KEY_FOLDER
  value: /etc/trainyard/s3
{{- end }}
# Uploads are spooled there.
- name: TMPDIR
  value: /spool
{{- else -}}
- name: TRAINYARD_ARTIFACTS
  value: /artifacts
{{- end }}
{{- end }}

{{/* Environment that names the Secrets of engines and trainers. No pod of theirs gets the key to the whole bucket. */}}
{{- define "trainyard.podSecretsEnv" -}}
{{- $s3 := . -}}
{{- range $component := list "engine" "trainer" }}
{{- $setting := printf "%sSecretName" $component -}}
{{- $name := index $s3 $setting -}}
{{- if and $s3.secretName (or (not $name) (eq $name $s3.secretName)) -}}
{{- fail (printf "artifacts.s3.secretName is the key of apiserver and operator to the whole bucket. Set artifacts.s3.%s to another Secret: docs/artifact-store.md has the policy of its key." $setting) -}}
{{- end }}
- name: TRAINYARD_S3_{{ upper $component }}_SECRET
  value: {{ $name | quote }}
{{- end }}
{{- end }}

{{/*
The volumes of a control part for artifacts: the store itself, or room for what is sent to it and the key. A part that starts
without the key waits, and says what is missing. A changed key is read without a restart.
*/}}
{{- define "trainyard.artifactsVolumes" -}}
{{- $source := ternary (dict "emptyDir" dict) (include "trainyard.artifacts" . | fromJson) (ne .Values.artifacts.s3.bucket "") -}}
- {{ merge (dict "name" "artifacts") $source | toJson }}
{{- if and .Values.artifacts.s3.bucket .Values.artifacts.s3.secretName }}
- { name: s3-key, secret: { secretName: {{ .Values.artifacts.s3.secretName }}, optional: true } }
{{- end }}
{{- end }}

{{- define "trainyard.artifactsMounts" -}}
- {{ dict "name" "artifacts" "mountPath" (ternary "/spool" "/artifacts" (ne .Values.artifacts.s3.bucket "")) | toJson }}
{{- if and .Values.artifacts.s3.bucket .Values.artifacts.s3.secretName }}
- { name: s3-key, mountPath: /etc/trainyard/s3, readOnly: true }
{{- end }}
{{- end }}

{{/* The names in a list of references, separated by commas. */}}
{{- define "trainyard.names" -}}
{{- $names := list }}
{{- range . }}{{ $names = append $names .name }}{{ end }}
{{- join "," $names }}
{{- end }}

{{/* Environment that says whom a control part may ask for users. */}}
{{- define "trainyard.outboundEnv" -}}
- name: TRAINYARD_DATA_HOSTS
  value: {{ join "," .Values.outbound.dataHosts | quote }}
- name: TRAINYARD_WEBHOOK_HOSTS
  value: {{ join "," .Values.outbound.webhookHosts | quote }}
- name: TRAINYARD_PRIVATE_NETWORKS
  value: {{ join "," .Values.outbound.privateNetworks | quote }}
- name: TRAINYARD_UPLOAD_LIMIT_BYTES
  value: {{ .Values.uploadLimitBytes | int64 | quote }}
{{- end }}

{{/* A default limit in an environment; Helm takes a value that somebody sets to null away. */}}
{{- define "trainyard.limitEnv" -}}
{{- $limit := index .root.Values.limits .name }}
- name: TRAINYARD_DEFAULT_{{ .variable }}
  value: {{ kindIs "invalid" $limit | ternary "none" (printf "%d" ($limit | int64)) | quote }}
{{- end }}

{{/* What control parts that store for entities know of their limits. */}}
{{- define "trainyard.storedBytesEnv" -}}
{{- include "trainyard.limitEnv" (dict "root" . "variable" "STORED_BYTES" "name" "storedBytes") }}
{{- end }}

{{/* Environment of the default limits. */}}
{{- define "trainyard.limitsEnv" -}}
{{- $root := . }}
{{- range $variable, $name := dict "REQUESTS_PER_MINUTE" "requestsPerMinute" "TOKENS_PER_MINUTE" "tokensPerMinute" "CONCURRENT_STREAMS" "concurrentStreams" "EVENT_STREAMS" "eventStreams" "QUEUED_JOBS" "queuedJobs" }}
{{- include "trainyard.limitEnv" (dict "root" $root "variable" $variable "name" $name) }}
{{- end }}
{{- include "trainyard.storedBytesEnv" . }}
{{- include "trainyard.gpuSecondsEnv" . }}
{{ include "trainyard.weightEnv" . }}
{{- end }}

{{/* What parts that read the queue of jobs know of the limits. */}}
{{- define "trainyard.gpuSecondsEnv" -}}
{{- include "trainyard.limitEnv" (dict "root" . "variable" "GPU_SECONDS_PER_DAY" "name" "gpuSecondsPerDay") }}
{{- end }}

{{/* The weight of entities without one of their own. */}}
{{- define "trainyard.weightEnv" -}}
- name: TRAINYARD_DEFAULT_WEIGHT
  value: {{ .Values.limits.weight | default 1 | quote }}
{{- end }}

{{/* Pod settings that the control parts share. Call with (dict "root" $ "component" "apiserver" "values" .Values.apiserver), and with "graceSeconds" if a part needs longer to end. */}}
{{- define "trainyard.podSpec" -}}
serviceAccountName: trainyard-{{ .component }}
automountServiceAccountToken: true
terminationGracePeriodSeconds: {{ .graceSeconds | default 15 }}
{{- with .root.Values.images.pullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- with .root.Values.podSecurityContext }}
securityContext: {{ toJson . }}
{{- end }}
{{- include "trainyard.placement" . }}
{{- end }}

{{/*
What the Secret holds, as JSON: what is given, else what was given before. A new key is made once, however many templates ask:
it is kept among the values for the rest of this rendering.
*/}}
{{- define "trainyard.secretData" -}}
{{- $kept := (lookup "v1" "Secret" .Release.Namespace "trainyard-secrets").data | default dict -}}
{{- $given := .Values.secrets -}}
{{- $webhookKeys := include "trainyard.webhookKeys" (dict "given" $given "kept" $kept) | fromJson -}}
{{- $before := index $kept "engine-key" | default "" | b64dec -}}
{{- if not $given.engineKey -}}
{{- $_ := set $given "engineKey" ($before | default (randAlphaNum 48)) -}}
{{- end -}}
{{- $data := merge (dict "engine-key" $given.engineKey) $webhookKeys -}}
{{- /* Engines that run know the key of their start. It is kept until the key changes again. */ -}}
{{- $keptPrevious := index $kept "previous-engine-key" | default "" | b64dec -}}
{{- $previous := $given.previousEngineKey | default (ternary $keptPrevious $before (eq $before $given.engineKey)) -}}
{{- if and $previous (ne $previous "none") -}}
{{- $_ := set $data "previous-engine-key" $previous -}}
{{- end -}}
{{- $database := $given.databaseUrl | default (index $kept "database-url" | default "" | b64dec) -}}
{{- if include "trainyard.hasPostgres" . -}}
{{- $database = printf "postgres://trainyard:%s@trainyard-postgres:5432/trainyard" (include "trainyard.postgresPassword" .) -}}
{{- end -}}
{{- $_ := set $data "database-url" (required "There is no database. Give one with secrets.databaseUrl=postgres://USER:PASSWORD@HOST:5432/DATABASE (version 15 or newer), or create the Secret trainyard-secrets yourself and set secrets.create=false, or set trial=true for a Postgres of the chart, on a cluster with one node." $database) -}}
{{- range $key, $value := dict "direct-database-url" $given.directDatabaseUrl "tracing-database-url" $given.tracingDatabaseUrl "direct-tracing-database-url" $given.directTracingDatabaseUrl -}}
{{- $url := $value | default (index $kept $key | default "" | b64dec) -}}
{{- if and $url (ne $url "same") -}}
{{- $_ := set $data $key $url -}}
{{- end -}}
{{- end -}}
{{ toJson $data }}
{{- end }}

{{/*
Annotations that restart the pods when the secrets change. The digest is keyed with the engine key, inside and outside:
without that key, which is too random to be guessed, no guess of a password can be checked against it. If the Secret is not
ours, the operator restarts the pods.
*/}}
{{- define "trainyard.podAnnotations" -}}
{{- if .Values.secrets.create -}}
{{- $data := include "trainyard.secretData" . -}}
{{- $key := (fromJson $data) | dig "engine-key" "" -}}
trainyard.dev/secrets-checksum: {{ print $key (print $key $data | sha256sum) | sha256sum | trunc 16 | quote }}
{{- end }}
{{- end }}

{{/* Container settings that the control parts share. Call with (dict "root" $ "resources" ...). */}}
{{- define "trainyard.container" -}}
image: {{ include "trainyard.image" (dict "root" .root "image" .root.Values.images.control) }}
imagePullPolicy: {{ .root.Values.images.pullPolicy }}
{{- with .root.Values.containerSecurityContext }}
securityContext: {{ toJson . }}
{{- end }}
{{- with .resources }}
resources: {{ toJson . }}
{{- end }}
{{- end }}

{{/*
V8's space for old objects, as a list of options: three quarters of a limit of memory in Mi or Gi. Without it, V8 lets garbage grow with the
memory of the machine, where nothing limits a container. Call with the resources of a container.
*/}}
{{- define "trainyard.heapOptions" -}}
{{- $limit := ((. | default dict).limits | default dict).memory | toString -}}
{{- $mebibytes := regexFind "^[0-9]+" $limit | int64 | mul (hasSuffix "Gi" $limit | ternary 1024 1) -}}
{{- $options := list -}}
{{- if regexMatch "^[0-9]+[MG]i$" $limit -}}
{{- $options = append $options (printf "--max-old-space-size=%d" (div (mul $mebibytes 3) 4)) -}}
{{- end -}}
{{ toJson $options }}
{{- end }}

{{/* Probes of a control part: it lives at `path`, and can do its work at `ready`. Call with (dict "path" ... "ready" ...). */}}
{{- define "trainyard.probes" -}}
startupProbe:
  httpGet: { path: {{ .path }}, port: http }
  periodSeconds: 1
  timeoutSeconds: 3
  failureThreshold: 120
livenessProbe:
  httpGet: { path: {{ .path }}, port: http }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: { path: {{ .ready }}, port: http }
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
{{- end }}

{{/* Environment that the control parts share. Call with (dict "root" $ "port" 8080). */}}
{{- define "trainyard.env" -}}
- name: TRAINYARD_HOST
  {{- if .root.Values.listenOnPodIP }}
  valueFrom: { fieldRef: { fieldPath: status.podIP } }
  {{- else }}
  value: 0.0.0.0
  {{- end }}
- name: TRAINYARD_PORT
  value: {{ .port | quote }}
- name: TRAINYARD_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
- name: TRAINYARD_SERVICE_ACCOUNT_DIR
  value: /var/run/secrets/kubernetes.io/serviceaccount
- name: LOG_LEVEL
  value: {{ .root.Values.logLevel }}
{{- end }}

{{/* The port of a control part's metrics. No Service leads to it. Other containers have other ports. */}}
{{- define "trainyard.metricsPort" -}}
8083
{{- end }}

{{- define "trainyard.metricsEnv" -}}
- name: TRAINYARD_METRICS_PORT
  value: {{ include "trainyard.metricsPort" . | quote }}
{{- end }}

{{/* What binds a part's ServiceAccount to its Role. Call with (dict "root" $ "component" "apiserver"). */}}
{{- define "trainyard.roleBinding" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: trainyard-{{ .component }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "trainyard.labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: trainyard-{{ .component }}
subjects:
  - kind: ServiceAccount
    name: trainyard-{{ .component }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}

{{/* The namespaces of tenants and their entities. */}}
{{- define "trainyard.tenantsEnv" -}}
- name: TRAINYARD_TENANTS
  value: {{ toJson .Values.tenants | quote }}
{{- end }}

{{/* A part's ServiceAccount. Call with (dict "root" $ "component" "apiserver" "token" true). */}}
{{- define "trainyard.serviceAccount" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: trainyard-{{ .component }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "trainyard.labels" . | nindent 4 }}
automountServiceAccountToken: {{ .token }}
{{- end }}
