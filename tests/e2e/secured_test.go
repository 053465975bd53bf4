package e2e

import (
	"net"
	"slices"
	"strings"
	"testing"

	"hippocampus/db/postgres/postgrestest"
	"hippocampus/vectorstore/milvus/milvustest"
)

// The server names the setting to correct if Milvus refuses it, prints no secret, and
// works with the right settings.
func TestServer_UsesSecuredMilvus(t *testing.T) {
	t.Parallel()
	milvustest.EachSecured(t, milvustest.MutualTLS, func(t *testing.T, secured milvustest.Secured) {
		host, port, err := net.SplitHostPort(secured.Addr)
		if err != nil {
			t.Fatal(err)
		}
		stores := []string{
			"DATABASE_URL=" + postgrestest.URL(t), "MILVUS_HOST=" + host, "MILVUS_PORT=" + port,
			"MILVUS_MEMORY_COLLECTION=" + secured.Collection, "HIPPOCAMPUS_MILVUS_PARTITIONS=4",
		}
		encrypted := []string{
			"HIPPOCAMPUS_MILVUS_TLS_ENABLED=true", "HIPPOCAMPUS_MILVUS_TLS_CA_FILE=" + secured.CA,
			"HIPPOCAMPUS_MILVUS_TLS_SERVER_NAME=" + milvustest.ServerName,
			"HIPPOCAMPUS_MILVUS_TLS_CERT_FILE=" + secured.ClientCert,
			"HIPPOCAMPUS_MILVUS_TLS_KEY_FILE=" + secured.ClientKey,
		}
		refused := func(reason, status, remedy string, settings ...string) {
			t.Helper()
			s := start(t, slices.Concat(stores, unwaiting, settings)...)
			eventually(t, "the reason "+reason, func() string { // Milvus may still be starting
				r := s.call("GET", "/readyz", nil, 200)
				part, _ := r.body["vector_store"].(map[string]any)
				if part["status"] != status || part["reason"] != reason || !strings.Contains(s.printed(), remedy) {
					return r.raw + "\n" + s.printed()
				}
				return ""
			})
			s.kill()
			if strings.Contains(s.printed(), "hush") {
				t.Errorf("the server printed a secret:\n%s", s.printed())
			}
		}
		refused("tls", "unavailable", "set milvus.tls.enabled to true")
		refused("credentials", "unauthorized", "set milvus.user and milvus.password", encrypted...)
		refused("credentials", "unauthorized", "correct milvus.user and milvus.password",
			append(encrypted, "MILVUS_USER="+milvustest.Root, "MILVUS_PASSWORD=hush-password")...)
		refused("credentials", "unauthorized", "correct milvus.token", append(encrypted, "MILVUS_TOKEN=hush-token")...)

		s := start(t, slices.Concat(stores, encrypted, []string{
			"MILVUS_USER=" + milvustest.Root, "MILVUS_PASSWORD=" + milvustest.RootPassword,
			"HIPPOCAMPUS_RECALL_COMPARE_LIMIT=0",
		})...)
		s.ready()
		s.call("POST", "/v1/memories", object{"user_id": "ada", "content": keeper}, 201)
		s.findsKeeper()
	})
}

// A Milvus on another machine is used without a password, or its password is sent unencrypted. The addresses belong to
// no machine.
func TestStart_WarnsOfAnOpenMilvus(t *testing.T) {
	t.Parallel()
	const noPassword, unencrypted = "Milvus is used without a password", "are sent to it unencrypted"
	postgres := "DATABASE_URL=" + postgrestest.URL(t)
	for _, c := range []struct {
		settings    []string
		wanted, not string
	}{
		{[]string{"MILVUS_HOST=192.0.2.1"}, noPassword, unencrypted},
		{[]string{"MILVUS_HOST=192.0.2.1", "MILVUS_USER=app", "MILVUS_PASSWORD=hush"}, unencrypted, noPassword},
		{[]string{"MILVUS_HOST=127.0.0.1", "MILVUS_PORT=1"}, "", noPassword},
	} {
		s := start(t, slices.Concat(unwaiting, []string{postgres}, c.settings)...)
		out := s.printed()
		if !strings.Contains(out, c.wanted) || strings.Contains(out, c.not) || strings.Contains(out, "hush") {
			t.Errorf("with %q the server prints\n%s", c.settings, out)
		}
		s.kill()
	}
}
