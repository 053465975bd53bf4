// Package milvustest gives each test its own collections on a shared Milvus:
//
//	HIPPOCAMPUS_TEST_MILVUS_ADDR -> address;  test -> unique alias, dropped at its end
package milvustest

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/milvus-io/milvus-sdk-go/v2/client"
)

// Partitions of a test collection: a collection with few partitions loads faster.
const Partitions = 4

// Variable names the environment variable with the server's "host:port".
const Variable = "HIPPOCAMPUS_TEST_MILVUS_ADDR"

// Addr is the address of the Milvus that tests use. It fails the test if
// Variable is not set.
func Addr(t testing.TB) string {
	t.Helper()
	addr := os.Getenv(Variable)
	if addr == "" {
		t.Fatalf("%s is not set: run ./scripts/test, which starts a Milvus, or set it to the address of one, "+
			"such as 127.0.0.1:19530", Variable)
	}
	return addr
}

// Collection returns a unique alias. Its collections are dropped at the end of
// the test.
func Collection(t testing.TB) string {
	t.Helper()
	addr := Addr(t)
	alias := "test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // a busy Milvus
		defer cancel()
		if err := drop(ctx, addr, alias); err != nil {
			t.Errorf("dropping the collections of %s: %v", alias, err)
		}
	})
	return alias
}

// Drop removes the alias and its collections, as an operator might while a
// server runs.
func Drop(t testing.TB, alias string) {
	t.Helper()
	if err := drop(t.Context(), Addr(t), alias); err != nil {
		t.Fatalf("dropping the collections of %s: %v", alias, err)
	}
}

func drop(ctx context.Context, addr, alias string) error {
	c, err := client.NewClient(ctx, client.Config{Address: addr})
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.DropAlias(ctx, alias); err != nil {
		return err
	}
	collections, err := c.ListCollections(ctx)
	if err != nil {
		return err
	}
	for _, collection := range collections {
		if strings.HasPrefix(collection.Name, alias) {
			if err := c.DropCollection(ctx, collection.Name); err != nil {
				return err
			}
		}
	}
	return nil
}
