package app

import (
	"os"
	"path/filepath"
	"runtime"

	"go.uber.org/zap"

	"hippocampus/server/config"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/sqlitevec"
)

// warnOfUnusedFile warns if a server without Postgres has left a file of vectors,
// since erasures do not reach it.
func warnOfUnusedFile(cfg config.Config, space vectorstore.Space, log *zap.Logger) {
	path := filepath.Join(cfg.Data, sqlitevec.FileName(space))
	if _, err := os.Stat(path); err == nil {
		log.Warn("the vectors are in Postgres, and this file of vectors is not used: delete it", zap.String("file", path))
	}
}

// warnOfWideFolder warns if other users of the machine may open the data folder. The
// database files themselves are private.
func warnOfWideFolder(folder string, log *zap.Logger) {
	if info, err := os.Stat(folder); err == nil && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		log.Warn("others may open the data folder: take away their permissions with chmod 700",
			zap.String("folder", folder), zap.Stringer("permissions", info.Mode().Perm()))
	}
}

// warnOfOpenMilvus warns of a Milvus on another machine that asks for no password, or that is used without TLS.
func warnOfOpenMilvus(cfg config.Config, log *zap.Logger) {
	m := cfg.Milvus
	switch {
	case m.Host == "" || inOneDatabase(cfg) || config.IsLoopback(m.Host):
	case m.User == "" && m.Token == "" && m.APIKey == "":
		log.Warn("Milvus is used without a password, so that anyone who reaches it can read and delete all memories: "+
			"turn its authorization on, and set milvus.user and milvus.password, or milvus.token", zap.String("host", m.Host))
	case !m.TLS.Enabled:
		log.Warn("the password of Milvus and all memories are sent to it unencrypted: set milvus.tls.enabled to true, "+
			"unless the network is private", zap.String("host", m.Host))
	}
}
