package app

import (
	"net"
	"strconv"
	"testing"

	"hippocampus/db/postgres/postgrestest"
	"hippocampus/server/config"
	"hippocampus/vectorstore/milvus/milvustest"
)

func largeConfig(t *testing.T) config.Config {
	t.Helper()
	host, port, err := net.SplitHostPort(milvustest.Addr(t))
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Default()
	cfg.Database.URL, cfg.Milvus.Host, cfg.Milvus.Collection = postgrestest.URL(t), host, milvustest.Collection(t)
	cfg.Milvus.Partitions = milvustest.Partitions
	if cfg.Milvus.Port, err = strconv.Atoi(port); err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestRunEndsCleanlyOnPostgresAndMilvus(t *testing.T) { runEndsCleanly(t, largeConfig(t)) }

func TestRunEndsCleanlyOnPgvector(t *testing.T) {
	cfg := config.Default()
	cfg.Database.URL, cfg.Vectors = postgrestest.PgvectorURL(t), "pgvector"
	runEndsCleanly(t, cfg)
}
