{{/* Whether the chart runs a Postgres: in a trial for which no database is given. */}}
{{- define "trainyard.hasPostgres" -}}
{{- if and .Values.trial .Values.secrets.create (not .Values.secrets.databaseUrl) }}true{{ end -}}
{{- end }}

{{/* The password of that Postgres. A new one is made once, however many templates ask: it is kept among the values for the rest of this rendering. */}}
{{- define "trainyard.postgresPassword" -}}
{{- $kept := (lookup "v1" "Secret" .Release.Namespace "trainyard-postgres").data | default dict -}}
{{- $before := index $kept "password" | default "" | b64dec -}}
{{- if not .Values.secrets.postgresPassword -}}
{{- $_ := set .Values.secrets "postgresPassword" ($before | default (randAlphaNum 32)) -}}
{{- end -}}
{{ .Values.secrets.postgresPassword }}
{{- end }}
