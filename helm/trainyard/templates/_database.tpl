{{/*
How many connections to Postgres all parts open at most. Call with (dict "root" $ "more" 1), where `more` is 1 for the time of
a rolling upgrade: of each part, a quarter of its pods (rounded up) may run besides the others.
*/}}
{{- define "trainyard.databaseConnections" -}}
{{- $of := .root.Values.database.connections -}}
{{- $parts := .root.Values -}}
{{- /* Besides its pools, a process has connections that listen, and one that migrates when it starts. */ -}}
{{- $apiserver := add $of.apiserver.main $of.apiserver.traces $of.apiserver.traceWrites 2 1 -}}
{{- $operator := add $of.operator.main $of.operator.traces 1 1 -}}
{{- $statusServer := add $of.statusServer.main 1 1 -}}
{{- $sum := 0 -}}
{{- range $pods := list (list (ternary $parts.apiserver.autoscaling.maxReplicas $parts.apiserver.replicas $parts.apiserver.autoscaling.enabled) $apiserver) (list $parts.operator.replicas $operator) (list $parts.statusServer.replicas $statusServer) -}}
{{- $replicas := first $pods | int -}}
{{- $surge := ternary (div (add $replicas 3) 4) 0 (eq $.more 1) -}}
{{- $sum = add $sum (mul (add $replicas $surge) (last $pods)) -}}
{{- end -}}
{{- $sum -}}
{{- end }}

{{/* The volume with the addresses of the databases. Kubernetes updates its files when the Secret changes. */}}
{{- define "trainyard.databaseVolume" -}}
{{- $items := list -}}
{{- range list "direct-database-url" "tracing-database-url" "direct-tracing-database-url" -}}
{{- $items = append $items (dict "key" . "path" .) -}}
{{- end -}}
{{- $sources := list
  (dict "secret" (dict "name" "trainyard-secrets" "items" (list (dict "key" "database-url" "path" "database-url"))))
  (dict "secret" (dict "name" "trainyard-secrets" "optional" true "items" $items)) -}}
{{- with .Values.database.caSecretName -}}
{{- $sources = append $sources (dict "secret" (dict "name" . "items" (list (dict "key" "ca.crt" "path" "ca.crt")))) -}}
{{- end -}}
{{ dict "name" "database" "projected" (dict "sources" $sources) | toJson }}
{{- end }}

{{- define "trainyard.databaseMount" -}}
{{ dict "name" "database" "mountPath" "/etc/trainyard/database" "readOnly" true | toJson }}
{{- end }}

{{- define "trainyard.databaseEnv" -}}
- name: TRAINYARD_DATABASE_FOLDER
  value: /etc/trainyard/database
{{- end }}
