package analysis

import "strings"

// calledByLibrary are the methods that the standard library may call on arguments: those of
// all its interfaces, exported or not.
var calledByLibrary = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields(`
Accept Add Addr AddressSize AdjustStream AfterFunc Align Alignof AppendBinary AppendStackPointer AppendText AppendUint16 AppendUint32 AppendUint64 As
AssignableTo At Attr Available BaseContext Basic Begin BeginTx Bits BlockSize Bounds Bytes CanSeq CanSeq2 CancelRequest ChanDir CheckNamedValue Clone
Close CloseConn CloseIdleConnections CloseNotify CloseStream CloseWrite ColorIndexAt ColorModel ColumnConverter ColumnTypeDatabaseTypeName
ColumnTypeLength ColumnTypeNullable ColumnTypePrecisionScale ColumnTypeScanType Columns Commit Common Comparable Compose Connect ConnectionState
ConstantTimeSum Context Control Convert ConvertValue ConvertibleTo Cookies Copy CryptBlocks Curve DataReader DataStart Deadline Decapsulate
DecodeUnified Decompose Decrypt DeriveKeyPair Done Double Draw Driver ECDH Elem EnableFullDuplex Enabled Encapsulate Encapsulator Encode Encrypt End
Equal Err Error Eval Exact ExactString Exec ExecContext Exported F Fail Fatal Field FieldAlign FieldByIndex FieldByName FieldByNameFunc Fields Flag
Flush FlushError Format Framer Generate GenerateKey Get GetClientConn Glob Gname GoString GobDecode GobEncode Handle HasNextResultSet HashFunc Header
HeaderBlockFragment HeaderEncoder HeadersEnded Hijack ID Id Implements Import ImportFrom ImportPath In InFlight Info Ins Int63 Is IsBoolFlag IsDir
IsHTTP2NoCachedConnError IsOnCurve IsValid IsVariadic IsZero KEM Key Kind Label LastInsertId Len Less Level LocalAddr Lock Log LogValue Lstat M
MarkDead MarshalBinary MarshalJSON MarshalJSONTo MarshalText MarshalXML MarshalXMLAttr MatchString Method MethodByName Methods ModTime Mode Name
Network NewCBCDecrypter NewCBCEncrypter NewCTR NewClientConn NewGCM NewPrivateKey NewPublicKey Next NextResultSet NonceSize NumField NumIn NumInput
NumMethod NumOut Obj Offsetsof Opaque Open OpenConnector OpenStream Options Out Output Outs OverflowComplex OverflowFloat OverflowInt OverflowUint
Overhead Params Parent Peek Ping Pkg PkgPath PollFD Pop Pos Position Precision Prepare PrepareContext Public PublicKey PublicSuffix Push Put PutUint16
PutUint32 PutUint64 Quantize Query QueryContext RGBA RGBA64At Raw Read ReadAt ReadByte ReadDir ReadFile ReadFrom ReadLink ReadRequestBody
ReadRequestHeader ReadResponseBody ReadResponseHeader ReadRune Readdir Release RemoteAddr Replace Reserve Reset ResetSession Rollback RoundTrip
RoundTripErr RowsAffected RuntimeError ScalarBaseMult ScalarMult Scan Seal Seed Seek ServeHTTP Set SetBytes SetCookies SetDeadline SetIV SetRGBA64
SetReadDeadline SetWriteDeadline Sign SignMessage Signal Size Sizeof Skip SkipSpace Stack StackPointer Start Stat StreamEnded String Sub Sum Sum32
Sum64 Swap Sys SyscallConn Temporary Timeout Token Type TypeParams Uint16 Uint32 Uint64 Uname Underlying UnencryptedNetConn Unlock Unmarshal
UnmarshalBinary UnmarshalCompressed UnmarshalJSON UnmarshalJSONFrom UnmarshalText UnmarshalXML UnmarshalXMLAttr UnreadByte UnreadRune Unwrap Value
Visit WhyNotExact Width WithAttrs WithGroup Write WriteAt WriteByte WriteHeader WriteRequest WriteResponse WriteString WriteTo XORKeyStream`) {
		m[name] = true
	}
	return m
}()
