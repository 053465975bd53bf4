package app

import (
	"net"
	"strconv"
	"testing"

	"hippocampus/db/postgres/postgrestest"
	"hippocampus/server/config"
	"hippocampus/vectorstore/milvus/milvustest"
)

func TestRun_EndsCleanlyOnPostgresAndMilvus(t *testing.T) {
	host, port, err := net.SplitHostPort(milvustest.Addr(t))
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Default()
	cfg.Database.URL = postgrestest.URL(t)
	cfg.Milvus.Host = host
	cfg.Milvus.Collection = milvustest.Collection(t)
	cfg.Milvus.Partitions = milvustest.Partitions
	if cfg.Milvus.Port, err = strconv.Atoi(port); err != nil {
		t.Fatal(err)
	}
	runEndsCleanly(t, cfg)
}

func TestRun_EndsCleanlyOnPgvector(t *testing.T) {
	cfg := config.Default()
	cfg.Database.URL = postgrestest.PgvectorURL(t)
	cfg.Vectors = "pgvector"
	runEndsCleanly(t, cfg)
}
