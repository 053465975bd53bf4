{{- define "hippocampus.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "hippocampus.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: server
{{- end }}

{{- /* hippocampus.testSelector are labels of the pod of helm test, which no Service selects. */ -}}
{{- define "hippocampus.testSelector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: test
{{- end }}

{{- define "hippocampus.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "hippocampus.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ default $.Chart.AppVersion .tag }}{{ end }}
{{- end }}
{{- end }}

{{- define "hippocampus.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ default (include "hippocampus.name" .) .Values.serviceAccount.name }}
{{- else }}{{ default "default" .Values.serviceAccount.name }}{{ end }}
{{- end }}

{{- define "hippocampus.migratesByJob" -}}
{{- if and (eq .Values.storage "postgres") .Values.migration.job }}true{{ end }}
{{- end }}

{{- /* hippocampus.check refuses values that would lose data or could not start. */ -}}
{{- define "hippocampus.check" -}}
{{- if eq .Values.storage "sqlite" }}
{{- if or (gt (int .Values.replicas) 1) .Values.autoscaling.enabled }}
{{- fail "storage is sqlite, which one server can use: set replicas to 1 and autoscaling.enabled to false, or storage to postgres" }}
{{- end }}
{{- if (get .Values.secrets "DATABASE_URL") }}
{{- fail "secrets.DATABASE_URL names a Postgres: set storage to postgres" }}
{{- end }}
{{- else if not (or (get .Values.secrets "DATABASE_URL") .Values.existingSecrets) }}
{{- fail "storage is postgres: set secrets.DATABASE_URL, or name a Secret with DATABASE_URL in existingSecrets" }}
{{- end }}
{{- if and .Values.milvusTLS.secret (not (dig "milvus" "host" "" .Values.config)) }}
{{- fail "milvusTLS.secret is set: set config.milvus.host too" }}
{{- end }}
{{- end }}

{{- /* hippocampus.pod is what the pods of servers and of the migration share. */ -}}
{{- define "hippocampus.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* hippocampus.container is what their containers share. */ -}}
{{- define "hippocampus.container" -}}
image: {{ include "hippocampus.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- /* hippocampus.environment takes the name of the ConfigMap and of the Secret: (list $ NAME). */ -}}
{{- define "hippocampus.environment" -}}
{{- $name := index . 1 }}
{{- with index . 0 }}
env:
  - {name: HIPPOCAMPUS_CONFIG, value: /etc/hippocampus/hippocampus.yaml}
  - {name: HIPPOCAMPUS_LISTEN, value: "0.0.0.0:8080"}
  - {name: HIPPOCAMPUS_METRICS_LISTEN, value: "0.0.0.0:{{ .Values.metrics.port }}"}
  - {name: HIPPOCAMPUS_DATA, value: /data}
  - {name: HIPPOCAMPUS_DATABASE_MIGRATE, value: "{{ if include "hippocampus.migratesByJob" . }}false{{ else }}true{{ end }}"}
  {{- if .Values.milvusTLS.secret }}
  - {name: HIPPOCAMPUS_MILVUS_TLS_ENABLED, value: "true"}
  - {name: HIPPOCAMPUS_MILVUS_TLS_CA_FILE, value: /etc/hippocampus/milvus/ca.crt}
  {{- with .Values.milvusTLS.serverName }}
  - {name: HIPPOCAMPUS_MILVUS_TLS_SERVER_NAME, value: {{ . | quote }}}
  {{- end }}
  {{- if .Values.milvusTLS.clientCertificate }}
  - {name: HIPPOCAMPUS_MILVUS_TLS_CERT_FILE, value: /etc/hippocampus/milvus/tls.crt}
  - {name: HIPPOCAMPUS_MILVUS_TLS_KEY_FILE, value: /etc/hippocampus/milvus/tls.key}
  {{- end }}
  {{- end }}
  {{- with .Values.env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- if or .Values.secrets .Values.existingSecrets }}
envFrom:
  {{- if .Values.secrets }}
  - secretRef: {name: {{ $name }}}
  {{- end }}
  {{- range .Values.existingSecrets }}
  - secretRef: {name: {{ . }}}
  {{- end }}
{{- end }}
volumeMounts:
  - {name: config, mountPath: /etc/hippocampus/hippocampus.yaml, subPath: hippocampus.yaml, readOnly: true}
  - {name: tmp, mountPath: /tmp}
  - {name: data, mountPath: /data}
  {{- if .Values.milvusTLS.secret }}
  - {name: milvus-tls, mountPath: /etc/hippocampus/milvus, readOnly: true}
  {{- end }}
{{- end }}
{{- end }}

{{- /* hippocampus.volumes takes (list $ NAME), and leaves out the volume of SQLite. */ -}}
{{- define "hippocampus.volumes" -}}
{{- $name := index . 1 }}
{{- with index . 0 }}
- name: config
  configMap: {name: {{ $name }}}
- name: tmp
  emptyDir: {}
{{- if eq .Values.storage "postgres" }}
- name: data
  emptyDir: {}
{{- end }}
{{- with .Values.milvusTLS.secret }}
- name: milvus-tls
  secret: {secretName: {{ . }}, defaultMode: 0440}
{{- end }}
{{- end }}
{{- end }}

{{- define "hippocampus.configData" -}}
data:
  hippocampus.yaml: |
    {{- toYaml .Values.config | nindent 4 }}
{{- end }}

{{- define "hippocampus.secretData" -}}
type: Opaque
data:
  {{- range $name, $value := .Values.secrets }}
  {{ $name }}: {{ $value | b64enc }}
  {{- end }}
{{- end }}
