package milvustest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// ServerName is the only name in the certificate of a server.
const ServerName = "milvus.example"

// Certificates are PEM files of an authority, and of a server and a client that it has
// signed. The files of another authority's client are StrangerCert and StrangerKey.
type Certificates struct {
	Folder, CA, ServerCert, ServerKey, ClientCert, ClientKey, StrangerCert, StrangerKey string
}

// NewCertificates makes certificates that are valid for an hour.
func NewCertificates(t testing.TB) Certificates {
	t.Helper()
	folder := t.TempDir()
	c := Certificates{Folder: folder, CA: filepath.Join(folder, "ca.pem")}
	authority := newAuthority(t)
	write(t, c.CA, "CERTIFICATE", authority.certificate.Raw)
	c.ServerCert, c.ServerKey = authority.sign(t, folder, "server")
	c.ClientCert, c.ClientKey = authority.sign(t, folder, "client")
	c.StrangerCert, c.StrangerKey = newAuthority(t).sign(t, folder, "stranger")
	return c
}

type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t testing.TB) authority {
	t.Helper()
	key := newKey(t)
	template := newTemplate("authority")
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{certificate, key}
}

// sign writes the certificate and the key NAME.pem and NAME.key.
func (a authority) sign(t testing.TB, folder, name string) (cert, key string) {
	t.Helper()
	own, template := newKey(t), newTemplate(name)
	template.DNSNames = []string{ServerName}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, own.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(folder, name+".pem"), filepath.Join(folder, name+".key")
	write(t, cert, "CERTIFICATE", der)
	write(t, key, "PRIVATE KEY", private)
	return cert, key
}

func newTemplate(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func write(t testing.TB, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}
