/** The tags the peer uses. */
final class Tags {
  static final int AVG_PX = 6;
  static final int BEGIN_SEQ_NO = 7;
  static final int CL_ORD_ID = 11;
  static final int CUM_QTY = 14;
  static final int END_SEQ_NO = 16;
  static final int EXEC_ID = 17;
  static final int HANDL_INST = 21;
  static final int MSG_SEQ_NUM = 34;
  static final int MSG_TYPE = 35;
  static final int NEW_SEQ_NO = 36;
  static final int ORDER_ID = 37;
  static final int ORDER_QTY = 38;
  static final int ORD_STATUS = 39;
  static final int ORD_TYPE = 40;
  static final int POSS_DUP_FLAG = 43;
  static final int PRICE = 44;
  static final int REF_SEQ_NUM = 45;
  static final int SIDE = 54;
  static final int SYMBOL = 55;
  static final int TEXT = 58;
  static final int TRANSACT_TIME = 60;
  static final int HEART_BT_INT = 108;
  static final int TEST_REQ_ID = 112;
  static final int GAP_FILL_FLAG = 123;
  static final int RESET_SEQ_NUM_FLAG = 141;
  static final int EXEC_TYPE = 150;
  static final int LEAVES_QTY = 151;
  static final int ENCODED_TEXT_LEN = 354;
  static final int ENCODED_TEXT = 355;
  static final int REF_TAG_ID = 371;
  static final int REF_MSG_TYPE = 372;
  static final int SESSION_REJECT_REASON = 373;
  static final int BUSINESS_REJECT_REASON = 380;
  static final int PARTY_ID_SOURCE = 447;
  static final int PARTY_ID = 448;
  static final int PARTY_ROLE = 452;
  static final int NO_PARTY_IDS = 453;
  static final int PARTY_SUB_ID = 523;
  static final int NO_PARTY_SUB_IDS = 802;
  static final int PARTY_SUB_ID_TYPE = 803;

  private Tags() {}
}
