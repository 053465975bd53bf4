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
