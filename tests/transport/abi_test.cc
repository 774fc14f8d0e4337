// The byte contract of transport/abi against the vendor's own header.

#include <infiniband/mlx5dv.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <random>

#include "tests/seed.h"
#include "transport/abi/cqe.h"
#include "transport/abi/doorbell.h"
#include "transport/abi/receive_wqe.h"
#include "transport/abi/wqe.h"

namespace ringpost::abi {
namespace {

template <class Ours, class Theirs>
bool SameBytes(const Ours& ours, const Theirs& theirs) {
  static_assert(sizeof(Ours) == sizeof(Theirs));
  return std::memcmp(&ours, &theirs, sizeof(Ours)) == 0;
}

template <class Ours>
bool Is(Ours ours, int theirs) {
  return static_cast<int>(ours) == theirs;
}

BOOST_AUTO_TEST_SUITE(Abi)

BOOST_AUTO_TEST_CASE(SegmentsHaveTheSizesOfTheVendorHeader) {
  BOOST_TEST(sizeof(ControlSegment) == sizeof(mlx5_wqe_ctrl_seg));
  BOOST_TEST(sizeof(DataSegment) == sizeof(mlx5_wqe_data_seg));
  BOOST_TEST(sizeof(RemoteAddressSegment) == sizeof(mlx5_wqe_raddr_seg));
  BOOST_TEST(sizeof(AtomicSegment) == sizeof(mlx5_wqe_atomic_seg));
  BOOST_TEST(kInlineHeaderBytes == sizeof(mlx5_wqe_inl_data_seg));
  BOOST_TEST(kWqebbBytes == uint32_t{MLX5_SEND_WQE_BB});
}

BOOST_AUTO_TEST_CASE(SegmentFieldsLieWhereTheVendorHeaderHasThem) {
  BOOST_TEST(offsetof(ControlSegment, opmod_index_opcode) ==
             offsetof(mlx5_wqe_ctrl_seg, opmod_idx_opcode));
  BOOST_TEST(offsetof(ControlSegment, qpn_ds) == offsetof(mlx5_wqe_ctrl_seg, qpn_ds));
  BOOST_TEST(offsetof(ControlSegment, signature) == offsetof(mlx5_wqe_ctrl_seg, signature));
  BOOST_TEST(offsetof(ControlSegment, fm_ce_se) == offsetof(mlx5_wqe_ctrl_seg, fm_ce_se));
  BOOST_TEST(offsetof(ControlSegment, immediate) == offsetof(mlx5_wqe_ctrl_seg, imm));
  BOOST_TEST(offsetof(RemoteAddressSegment, address) == offsetof(mlx5_wqe_raddr_seg, raddr));
  BOOST_TEST(offsetof(RemoteAddressSegment, rkey) == offsetof(mlx5_wqe_raddr_seg, rkey));
  BOOST_TEST(offsetof(DataSegment, byte_count) == offsetof(mlx5_wqe_data_seg, byte_count));
  BOOST_TEST(offsetof(DataSegment, lkey) == offsetof(mlx5_wqe_data_seg, lkey));
  BOOST_TEST(offsetof(DataSegment, address) == offsetof(mlx5_wqe_data_seg, addr));
  BOOST_TEST(offsetof(AtomicSegment, swap_add) == offsetof(mlx5_wqe_atomic_seg, swap_add));
  BOOST_TEST(offsetof(AtomicSegment, compare) == offsetof(mlx5_wqe_atomic_seg, compare));
}

BOOST_AUTO_TEST_CASE(CqeFieldsLieWhereTheVendorHeaderHasThem) {
  BOOST_TEST(sizeof(Cqe) == sizeof(mlx5_cqe64));
  BOOST_TEST(offsetof(Cqe, wqe_id) == offsetof(mlx5_cqe64, wqe_id));
  BOOST_TEST(offsetof(Cqe, ml_path) == offsetof(mlx5_cqe64, ml_path));
  BOOST_TEST(offsetof(Cqe, slid) == offsetof(mlx5_cqe64, slid));
  BOOST_TEST(offsetof(Cqe, flags_rqpn) == offsetof(mlx5_cqe64, flags_rqpn));
  BOOST_TEST(offsetof(Cqe, hds_ip_ext) == offsetof(mlx5_cqe64, hds_ip_ext));
  BOOST_TEST(offsetof(Cqe, l4_hdr_type_etc) == offsetof(mlx5_cqe64, l4_hdr_type_etc));
  BOOST_TEST(offsetof(Cqe, vlan_info) == offsetof(mlx5_cqe64, vlan_info));
  BOOST_TEST(offsetof(Cqe, srqn_uidx) == offsetof(mlx5_cqe64, srqn_uidx));
  BOOST_TEST(offsetof(Cqe, imm_inval_pkey) == offsetof(mlx5_cqe64, imm_inval_pkey));
  BOOST_TEST(offsetof(Cqe, byte_cnt) == offsetof(mlx5_cqe64, byte_cnt));
  BOOST_TEST(offsetof(Cqe, timestamp) == offsetof(mlx5_cqe64, timestamp));
  BOOST_TEST(offsetof(Cqe, sop_drop_qpn) == offsetof(mlx5_cqe64, sop_drop_qpn));
  BOOST_TEST(offsetof(Cqe, wqe_counter) == offsetof(mlx5_cqe64, wqe_counter));
  BOOST_TEST(offsetof(Cqe, signature) == offsetof(mlx5_cqe64, signature));
  BOOST_TEST(offsetof(Cqe, op_own) == offsetof(mlx5_cqe64, op_own));
}

BOOST_AUTO_TEST_CASE(ErrorCqeFieldsLieWhereTheVendorHeaderHasThem) {
  BOOST_TEST(kErrorVendorSyndromeOffset == offsetof(mlx5_err_cqe, vendor_err_synd));
  BOOST_TEST(kErrorSyndromeOffset == offsetof(mlx5_err_cqe, syndrome));
  BOOST_TEST(offsetof(Cqe, sop_drop_qpn) == offsetof(mlx5_err_cqe, s_wqe_opcode_qpn));
  BOOST_TEST(offsetof(Cqe, wqe_counter) == offsetof(mlx5_err_cqe, wqe_counter));
  BOOST_TEST(offsetof(Cqe, op_own) == offsetof(mlx5_err_cqe, op_own));
  BOOST_TEST(sizeof(mlx5_err_cqe) == kCqeBytes);
}

BOOST_AUTO_TEST_CASE(OpcodesAreThoseOfTheVendorHeader) {
  BOOST_TEST(Is(Opcode::kNop, MLX5_OPCODE_NOP));
  BOOST_TEST(Is(Opcode::kSendInvalidate, MLX5_OPCODE_SEND_INVAL));
  BOOST_TEST(Is(Opcode::kRdmaWrite, MLX5_OPCODE_RDMA_WRITE));
  BOOST_TEST(Is(Opcode::kRdmaWriteImm, MLX5_OPCODE_RDMA_WRITE_IMM));
  BOOST_TEST(Is(Opcode::kSend, MLX5_OPCODE_SEND));
  BOOST_TEST(Is(Opcode::kSendImm, MLX5_OPCODE_SEND_IMM));
  BOOST_TEST(Is(Opcode::kRdmaRead, MLX5_OPCODE_RDMA_READ));
  BOOST_TEST(Is(Opcode::kAtomicCompareSwap, MLX5_OPCODE_ATOMIC_CS));
  BOOST_TEST(Is(Opcode::kAtomicFetchAdd, MLX5_OPCODE_ATOMIC_FA));
  BOOST_TEST(Is(Opcode::kAtomicMaskedCompareSwap, MLX5_OPCODE_ATOMIC_MASKED_CS));
  BOOST_TEST(Is(Opcode::kAtomicMaskedFetchAdd, MLX5_OPCODE_ATOMIC_MASKED_FA));
}

BOOST_AUTO_TEST_CASE(FlagsAreThoseOfTheVendorHeader) {
  BOOST_TEST(Is(Flags::kCqeAlways, MLX5_WQE_CTRL_CQ_UPDATE));
  BOOST_TEST(Is(Flags::kSolicited, MLX5_WQE_CTRL_SOLICITED));
  // The vendor header names only the strongest fence mode; this is a weaker one of the same bits.
  BOOST_TEST((Flags::kFenceReadsAtomics & ~(7 << 5)) == 0);
  BOOST_TEST(Is(Flags::kInitiatorSmallFence, MLX5_WQE_CTRL_INITIATOR_SMALL_FENCE));
  BOOST_TEST(kInlineFlag == uint32_t{MLX5_INLINE_SEG});
}

BOOST_AUTO_TEST_CASE(CqeOpcodesAndSyndromesAreThoseOfTheVendorHeader) {
  BOOST_TEST(Is(CqeOpcode::kRequester, MLX5_CQE_REQ));
  BOOST_TEST(Is(CqeOpcode::kResponderWriteImm, MLX5_CQE_RESP_WR_IMM));
  BOOST_TEST(Is(CqeOpcode::kResponderSend, MLX5_CQE_RESP_SEND));
  BOOST_TEST(Is(CqeOpcode::kResponderSendImm, MLX5_CQE_RESP_SEND_IMM));
  BOOST_TEST(Is(CqeOpcode::kResponderSendInvalidate, MLX5_CQE_RESP_SEND_INV));
  BOOST_TEST(Is(CqeOpcode::kRequesterError, MLX5_CQE_REQ_ERR));
  BOOST_TEST(Is(CqeOpcode::kResponderError, MLX5_CQE_RESP_ERR));
  BOOST_TEST(Is(CqeOpcode::kInvalid, MLX5_CQE_INVALID));
  BOOST_TEST(Is(Syndrome::kLocalLength, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR));
  BOOST_TEST(Is(Syndrome::kLocalQpOperation, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR));
  BOOST_TEST(Is(Syndrome::kLocalProtection, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR));
  BOOST_TEST(Is(Syndrome::kFlushed, MLX5_CQE_SYNDROME_WR_FLUSH_ERR));
  BOOST_TEST(Is(Syndrome::kBadResponse, MLX5_CQE_SYNDROME_BAD_RESP_ERR));
  BOOST_TEST(Is(Syndrome::kLocalAccess, MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR));
  BOOST_TEST(Is(Syndrome::kRemoteInvalidRequest, MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR));
  BOOST_TEST(Is(Syndrome::kRemoteAccess, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR));
  BOOST_TEST(Is(Syndrome::kRemoteOperation, MLX5_CQE_SYNDROME_REMOTE_OP_ERR));
  BOOST_TEST(Is(Syndrome::kTransportRetryExceeded, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR));
  BOOST_TEST(Is(Syndrome::kRnrRetryExceeded, MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR));
}

BOOST_AUTO_TEST_CASE(ControlSegmentHasTheBytesThatTheVendorBuilderWrites) {
  std::mt19937_64 random(TestSeed());
  for (int i = 0; i < 1000; ++i) {
    const uint16_t index = static_cast<uint16_t>(random());
    const uint32_t qpn = random() & 0xffffff;
    const uint8_t segments = 1 + random() % kMaxSegments;
    const uint8_t flags = static_cast<uint8_t>(random());
    mlx5_wqe_ctrl_seg theirs = {};
    mlx5dv_set_ctrl_seg(&theirs, index, MLX5_OPCODE_RDMA_WRITE, 0, qpn, flags, segments, 0, 0);
    BOOST_TEST(
        SameBytes(ControlSegmentOf(Opcode::kRdmaWrite, index, qpn, segments, flags), theirs));
  }
}

BOOST_AUTO_TEST_CASE(DataSegmentHasTheBytesThatTheVendorBuilderWrites) {
  std::mt19937_64 random(TestSeed());
  for (int i = 0; i < 1000; ++i) {
    const uint32_t bytes = random() & 0x7fffffff;
    const uint32_t lkey = static_cast<uint32_t>(random());
    const uint64_t address = random();
    mlx5_wqe_data_seg theirs = {};
    mlx5dv_set_data_seg(&theirs, bytes, lkey, address);
    BOOST_TEST(SameBytes(DataOf(bytes, lkey, address), theirs));
  }
}

BOOST_AUTO_TEST_CASE(RemoteAddressSegmentIsBigEndian) {
  const Segment segment = RemoteAddressOf(0x0102030405060708, 0x0a0b0c0d);
  const uint8_t expected[16] = {1, 2, 3, 4, 5, 6, 7, 8, 0xa, 0xb, 0xc, 0xd, 0, 0, 0, 0};
  BOOST_TEST(SameBytes(segment, expected));
}

BOOST_AUTO_TEST_CASE(InlinePayloadTakesTheHeaderAndWholeSegments) {
  BOOST_TEST(InlineSegments(0) == 0u);
  BOOST_TEST(InlineSegments(1) == 1u);
  BOOST_TEST(InlineSegments(12) == 1u);
  BOOST_TEST(InlineSegments(13) == 2u);
  BOOST_TEST(InlineSegments(28) == 2u);
  BOOST_TEST(InlineSegments(29) == 3u);
  BOOST_TEST(WqebbsOf(4) == 1u);
  BOOST_TEST(WqebbsOf(5) == 2u);
}

uint64_t TailOf(const mlx5_cqe64& cqe) {
  uint64_t tail = 0;
  std::memcpy(&tail, reinterpret_cast<const char*>(&cqe) + kCqeTailOffset, sizeof(tail));
  return tail;
}

BOOST_AUTO_TEST_CASE(CqeTailDecodesToWhatTheVendorHeaderReads) {
  std::mt19937_64 random(TestSeed());
  for (int i = 0; i < 1000; ++i) {
    mlx5_cqe64 cqe = {};
    const uint32_t qpn = random() & 0xffffff;
    const uint16_t counter = static_cast<uint16_t>(random());
    cqe.sop_drop_qpn = htobe32((uint32_t{MLX5_OPCODE_RDMA_WRITE} << 24) | qpn);
    cqe.wqe_counter = htobe16(counter);
    cqe.signature = static_cast<uint8_t>(random());
    cqe.op_own = static_cast<uint8_t>(random());
    BOOST_TEST(Is(TailOpcode(TailOf(cqe)), mlx5dv_get_cqe_opcode(&cqe)));
    BOOST_TEST(TailCounter(TailOf(cqe)) == counter);
    BOOST_TEST(TailQpn(TailOf(cqe)) == qpn);
  }
}

BOOST_AUTO_TEST_CASE(AtomicAddressAndImmediateAreThoseOfTheVendorHeader) {
  mlx5_wqe_atomic_seg atomic = {};
  atomic.swap_add = htobe64(0x0102030405060708);
  atomic.compare = htobe64(0x1112131415161718);
  const Segment operands = AtomicOf(0x0102030405060708, 0x1112131415161718);
  BOOST_TEST(std::memcmp(&operands, &atomic, sizeof(atomic)) == 0);
  mlx5_wqe_av vector = {};
  vector.key.dc_key = htobe64(0x5623ceaf01);
  vector.dqp_dct = htobe32(0x123456);
  vector.rlid = htobe16(0x0708);
  const Segment address = AddressVectorOf(0x5623ceaf01, 0x123456, 0x0708);
  BOOST_TEST(std::memcmp(&address, &vector, sizeof(address)) == 0);
  mlx5_wqe_ctrl_seg control = {};
  mlx5dv_set_ctrl_seg(&control, 100, MLX5_OPCODE_SEND_IMM, 0, 77, MLX5_WQE_CTRL_CQ_UPDATE, 3, 0,
                      htobe32(0x01020304));
  const Segment ours = ControlSegmentOf(Opcode::kSendImm, 100, 77, 3, kCqeAlways, 0x01020304);
  BOOST_TEST(std::memcmp(&ours, &control, sizeof(control)) == 0);
}

BOOST_AUTO_TEST_CASE(ReceivesAreThoseOfTheVendorHeader) {
  mlx5_wqe_data_seg data = {};
  mlx5dv_set_data_seg(&data, 100, 7, 0x1122334455667788);
  const Segment one = ReceiveOf(100, 7, 0x1122334455667788);
  BOOST_TEST(std::memcmp(&one, &data, sizeof(data)) == 0);
  mlx5dv_set_data_seg(&data, 0, MLX5_INVALID_LKEY, 0);
  const Segment none = ReceiveOf(0, 7, 0x1122334455667788);
  BOOST_TEST(std::memcmp(&none, &data, sizeof(data)) == 0);
  mlx5_wqe_srq_next_seg next = {};
  next.next_wqe_index = htobe16(0x0102);
  const Segment link = NextReceiveOf(0x0102);
  BOOST_TEST(std::memcmp(&link, &next, sizeof(next)) == 0);
  mlx5_cqe64 cqe = {};
  cqe.op_own = 1;
  BOOST_TEST(TailOwner(TailOf(cqe)));
  cqe.op_own = 0xf0;
  BOOST_TEST(!TailOwner(TailOf(cqe)));
}

BOOST_AUTO_TEST_CASE(InitialCqeIsInvalidAndOwnedByHardware) {
  mlx5_cqe64 cqe = {};
  cqe.op_own = kCqeInitialOpOwn;
  BOOST_TEST(Is(CqeOpcode::kInvalid, mlx5dv_get_cqe_opcode(&cqe)));
  BOOST_TEST(mlx5dv_get_cqe_owner(&cqe) == 1);
  BOOST_TEST((TailOpcode(TailOf(cqe)) == CqeOpcode::kInvalid));
}

BOOST_AUTO_TEST_CASE(DoorbellWithTheProducerIndexDecodesToThatIndex) {
  for (uint32_t producer : {0u, 1u, 4095u, 32768u, 65535u}) {
    const DoorbellFields fields = DecodeDoorbell(ProducerDoorbell(producer, 0xabcdef));
    BOOST_TEST(fields.producer == producer);
    BOOST_TEST(fields.qpn == 0xabcdefu);
  }
}

BOOST_AUTO_TEST_CASE(DoorbellWithTheLastWqeDecodesToTheIndexBehindIt) {
  for (uint8_t segments : {1, 2, 3, 4, 5, 8, 9, 63}) {
    mlx5_wqe_ctrl_seg control = {};
    mlx5dv_set_ctrl_seg(&control, 100, MLX5_OPCODE_RDMA_WRITE, 0, 77, MLX5_WQE_CTRL_CQ_UPDATE,
                        segments, 0, 0);
    uint64_t doorbell = 0;
    std::memcpy(&doorbell, &control, sizeof(doorbell));
    const DoorbellFields fields = DecodeDoorbell(doorbell);
    BOOST_TEST(fields.qpn == 77u);
    BOOST_TEST(fields.producer == 100 + (segments + 3) / 4);
  }
}

BOOST_AUTO_TEST_CASE(LastWqeDoorbellWrapsAt65536) {
  const uint64_t doorbell = ControlWord(Opcode::kRdmaWrite, 65535, 9, 3);
  BOOST_TEST(DecodeDoorbell(doorbell).producer == 0);
  const uint64_t two_blocks = ControlWord(Opcode::kRdmaWrite, 65535, 9, 5);
  BOOST_TEST(DecodeDoorbell(two_blocks).producer == 1);
}

BOOST_AUTO_TEST_CASE(RecordWordsAreThoseOfTheVendorHeader) {
  BOOST_TEST(kRecordReceiveOffset == sizeof(uint32_t) * MLX5_RCV_DBR);
  BOOST_TEST(kRecordSendOffset == sizeof(uint32_t) * MLX5_SND_DBR);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost::abi
