{{- define "waystar.selector" -}}
app.kubernetes.io/name: waystar
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "waystar.labels" -}}
{{ include "waystar.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
