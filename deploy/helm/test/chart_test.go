package test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"hippocampus/server/config"
)

// objects are the kinds of objects that each values file leads to.
var objects = map[string][]string{
	"default": {"1 ConfigMap", "1 Pod", "1 Service", "1 ServiceAccount", "1 StatefulSet"},
	"sqlite":  {"1 ConfigMap", "1 Pod", "1 Secret", "1 Service", "1 ServiceAccount", "1 StatefulSet"},
	"pgvector": {
		"1 Deployment", "1 Job", "1 Pod", "1 Service", "1 ServiceAccount", "2 ConfigMap", "2 Secret",
	},
	"milvus": {
		"1 Deployment", "1 Job", "1 Pod", "1 Service", "1 ServiceAccount", "2 ConfigMap", "2 Secret",
	},
	"existing": {"1 ConfigMap", "1 Deployment", "1 Pod", "1 Service"},
	"everything": {
		"1 Deployment", "1 HorizontalPodAutoscaler", "1 Ingress", "1 Job", "1 NetworkPolicy", "1 Pod",
		"1 PodDisruptionBudget", "1 Service", "1 ServiceAccount", "1 ServiceMonitor", "2 ConfigMap", "2 Secret",
	},
}

// onEachFile runs a test with the objects of each values file.
func onEachFile(t *testing.T, test func(t *testing.T, name string, m manifests)) {
	t.Helper()
	t.Parallel()
	for name := range objects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, name, renderFile(t, name))
		})
	}
}

func TestChart_RendersTheObjectsOfItsValues(t *testing.T) {
	onEachFile(t, func(t *testing.T, name string, m manifests) {
		if got := m.counts(); !slices.Equal(got, objects[name]) {
			t.Errorf("objects %q, want %q", got, objects[name])
		}
	})
}

func TestChart_RunsWithoutPrivileges(t *testing.T) {
	onEachFile(t, func(t *testing.T, _ string, m manifests) {
		specs := m.templates()
		for _, p := range m.pods {
			specs = append(specs, p.Spec)
		}
		for _, spec := range specs {
			pod := spec.SecurityContext
			if !*pod.RunAsNonRoot || *pod.RunAsUser != 65532 || *spec.AutomountServiceAccountToken ||
				pod.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
				t.Errorf("pod %+v", pod)
			}
			for _, c := range spec.Containers {
				s := c.SecurityContext
				if *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem ||
					!slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) {
					t.Errorf("container %s: %+v", c.Name, s)
				}
			}
		}
		for _, a := range m.accounts {
			if *a.AutomountServiceAccountToken {
				t.Errorf("the account %s has a token", a.Name)
			}
		}
	})
}

// The pods' variables and file are settings that the server accepts, and set the ports that the chart names.
func TestChart_GivesSettingsThatTheServerKnows(t *testing.T) {
	onEachFile(t, func(t *testing.T, name string, m manifests) {
		for _, spec := range m.templates() {
			c := m.settings(t, spec)
			server := spec.Containers[0]
			if c.Listen != "0.0.0.0:8080" || c.Data != "/data" {
				t.Errorf("listen %s, data %s", c.Listen, c.Data)
			}
			for _, p := range server.Ports {
				if p.Name == "metrics" && c.Metrics.Listen != fmt.Sprint("0.0.0.0:", p.ContainerPort) {
					t.Errorf("metrics at %s, port %d", c.Metrics.Listen, p.ContainerPort)
				}
			}
			if byJob := len(m.jobs) == 1; c.Database.Migrate == byJob {
				t.Errorf("database.migrate is %v, and a job migrates: %v", c.Database.Migrate, byJob)
			}
			// Loading refuses unknown variables with this prefix, and ignores others.
			for _, v := range server.Env {
				if !strings.HasPrefix(v.Name, "HIPPOCAMPUS_") && !strings.HasPrefix(v.Name, "OTEL_") {
					t.Errorf("the chart sets %s", v.Name)
				}
			}
		}
		if name == "milvus" {
			c := m.settings(t, m.deployments[0].Spec.Template.Spec)
			if c.Milvus.Host != "milvus.stores.svc" || c.Milvus.Index != "HNSW" || c.Milvus.Password != "secret" ||
				!c.Milvus.TLS.Enabled || c.Milvus.TLS.CAFile != "/etc/hippocampus/milvus/ca.crt" ||
				c.Milvus.TLS.CertFile == "" || c.Milvus.TLS.ServerName != "milvus.example.com" {
				t.Errorf("settings\n%s", c)
			}
		}
	})
}

// settings loads the configuration of a pod from its variables, Secrets and file.
func (m manifests) settings(t *testing.T, spec corev1.PodSpec) config.Config {
	t.Helper()
	container := spec.Containers[0]
	env := []string{}
	for _, source := range container.EnvFrom {
		for _, secret := range m.secrets {
			if secret.Name != source.SecretRef.Name {
				continue
			}
			for name, value := range secret.Data {
				env = append(env, name+"="+string(value))
			}
		}
	}
	for _, v := range container.Env {
		if v.Name != config.FileVariable {
			env = append(env, v.Name+"="+v.Value)
		}
	}
	file := filepath.Join(t.TempDir(), "hippocampus.yaml")
	for _, volume := range spec.Volumes {
		for _, cm := range m.configMaps {
			if volume.ConfigMap == nil || volume.ConfigMap.Name != cm.Name {
				continue
			}
			if err := os.WriteFile(file, []byte(cm.Data["hippocampus.yaml"]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	c, err := config.Load(config.Sources{File: file, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestChart_MountsWhatItNames(t *testing.T) {
	onEachFile(t, func(t *testing.T, _ string, m manifests) {
		for _, spec := range m.templates() {
			volumes := map[string]bool{}
			for _, v := range spec.Volumes {
				volumes[v.Name] = true
			}
			for _, s := range m.statefulSets {
				for _, c := range s.Spec.VolumeClaimTemplates {
					volumes[c.Name] = true
				}
			}
			paths := []string{}
			for _, mount := range spec.Containers[0].VolumeMounts {
				if !volumes[mount.Name] {
					t.Errorf("%s is mounted, and is no volume", mount.Name)
				}
				paths = append(paths, mount.MountPath)
			}
			for _, want := range []string{"/tmp", "/data", "/etc/hippocampus/hippocampus.yaml"} {
				if !slices.Contains(paths, want) {
					t.Errorf("nothing is mounted at %s", want)
				}
			}
		}
	})
}

func TestChart_ProbesTheServer(t *testing.T) {
	onEachFile(t, func(t *testing.T, _ string, m manifests) {
		server := m.templates()[0].Containers[0]
		for want, probe := range map[string]*corev1.Probe{
			"/healthz": server.LivenessProbe, "/readyz": server.ReadinessProbe,
		} {
			if probe.HTTPGet.Path != want || probe.HTTPGet.Port.String() != "http" {
				t.Errorf("the probe of %s asks %+v", want, probe.HTTPGet)
			}
		}
		grace := *m.templates()[0].TerminationGracePeriodSeconds
		longest := config.Default().API.ShutdownTimeout.Seconds() + float64(server.Lifecycle.PreStop.Sleep.Seconds)
		if float64(grace) <= longest {
			t.Errorf("the pod is killed after %d s, and its shutdown may take %v s", grace, longest)
		}
	})
}
