{{/*
Secrets of others that pods read when they start, as the sources of a volume of the operator: when a file of it changes, the
operator replaces the pods. A folder for each kind of reader: control, engine, trainer. As JSON.
*/}}
{{- define "trainyard.otherSecrets" -}}
{{- $root := . -}}
{{- $files := dict -}}
{{- if not .Values.secrets.create -}}
{{- range list "database-url" "direct-database-url" "tracing-database-url" "direct-tracing-database-url" "engine-key" "previous-engine-key" "webhook-key" "previous-webhook-key" -}}
{{- $_ := set $files (printf "control/trainyard-secrets/%s" .) (list "trainyard-secrets" .) -}}
{{- end -}}
{{- end -}}
{{- with .Values.database.caSecretName -}}
{{- $_ := set $files (printf "control/%s/ca.crt" .) (list . "ca.crt") -}}
{{- end -}}
{{- range $values := list .Values.apiserver .Values.operator .Values.statusServer -}}
{{- range (include "trainyard.podSettings" (dict "root" $root "values" $values) | fromJson).env -}}
{{- with dig "valueFrom" "secretKeyRef" dict . -}}
{{- $_ := set $files (printf "control/%s/%s" .name .key) (list .name .key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if .Values.artifacts.s3.bucket -}}
{{- range $component := list "engine" "trainer" -}}
{{- with $name := index $root.Values.artifacts.s3 (printf "%sSecretName" $component) -}}
{{- range $key := list "access-key-id" "secret-access-key" -}}
{{- $_ := set $files (printf "%s/%s/%s" $component $name $key) (list $name $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $sources := list -}}
{{- range $path := keys $files | sortAlpha -}}
{{- $reference := get $files $path -}}
{{- $items := list (dict "key" (last $reference) "path" $path) -}}
{{- $sources = append $sources (dict "secret" (dict "name" (first $reference) "optional" true "items" $items)) -}}
{{- end -}}
{{ dict "sources" $sources | toJson }}
{{- end }}
