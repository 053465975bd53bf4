package test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// secretsOf are the names of the Secrets that a container has its variables from, in their order.
func secretsOf(c corev1.Container) (names []string) {
	for _, source := range c.EnvFrom {
		names = append(names, source.SecretRef.Name)
	}
	return names
}

func TestChart_MigratesBeforeTheServersOfARelease(t *testing.T) {
	onEachFile(t, func(t *testing.T, _ string, m manifests) {
		for _, job := range m.jobs {
			if got := job.Annotations["helm.sh/hook"]; got != "pre-install,pre-upgrade" {
				t.Errorf("the hook of the job is %q", got)
			}
			if c := job.Spec.Template.Spec.Containers; len(c) != 1 || !slices.Equal(c[0].Args, []string{"migrate"}) {
				t.Errorf("the job runs %+v", c)
			}
		}
	})
}

func TestChart_TakesVariablesFromExistingSecrets(t *testing.T) {
	t.Parallel()
	for _, byJob := range []bool{false, true} {
		values := valuesOf(t, "existing")
		values["migration"] = map[string]any{"job": byJob}
		specs := renderValues(t, values).templates()
		if want := map[bool]int{false: 1, true: 2}[byJob]; len(specs) != want {
			t.Fatalf("%d pods with the job: %v", len(specs), byJob)
		}
		for _, spec := range specs {
			if got := secretsOf(spec.Containers[0]); !slices.Equal(got, []string{"stores", "models"}) {
				t.Errorf("%s has its variables from %q", spec.Containers[0].Name, got)
			}
		}
	}
}
