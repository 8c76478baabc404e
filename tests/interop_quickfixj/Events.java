import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import quickfix.FieldMap;
import quickfix.FieldNotFound;
import quickfix.Group;
import quickfix.Message;

/** Event lines on standard output, and what they say of a message. */
final class Events {
  private static final FileOutputStream OUTPUT = new FileOutputStream(FileDescriptor.out);

  private Events() {}

  /** One write per line, so that a reader at the other end of a pipe sees each event when it happens. */
  static void report(String line) {
    StringBuilder shown = new StringBuilder(line.length() + 1);
    line.chars().forEach(c -> shown.append(c == '\001' ? '|' : c < ' ' ? ' ' : (char) c));
    byte[] bytes = shown.append('\n').toString().getBytes(StandardCharsets.UTF_8);
    synchronized (OUTPUT) {
      try {
        OUTPUT.write(bytes);
      } catch (IOException error) {
        throw new UncheckedIOException(error);
      }
    }
  }

  static void reportReject(String direction, Message message) {
    int reason = msgType(message).equals("j") ? Tags.BUSINESS_REJECT_REASON : Tags.SESSION_REJECT_REASON;
    report(String.join(" ", "REJECT", direction, msgType(message), field(message, Tags.REF_SEQ_NUM),
        field(message, Tags.REF_MSG_TYPE), field(message, Tags.REF_TAG_ID), field(message, reason),
        field(message, Tags.TEXT)));
  }

  /** "-" for an absent field. */
  static String field(FieldMap fields, int tag) {
    try {
      return fields.isSetField(tag) ? fields.getString(tag) : "-";
    } catch (FieldNotFound absent) {
      return "-";
    }
  }

  static String flag(FieldMap fields, int tag) {
    return field(fields, tag).equals("Y") ? "Y" : "N";
  }

  static String msgType(Message message) {
    return field(message.getHeader(), Tags.MSG_TYPE);
  }

  static String seqAndPossDup(Message message) {
    return field(message.getHeader(), Tags.MSG_SEQ_NUM) + ' ' + flag(message.getHeader(), Tags.POSS_DUP_FLAG);
  }

  static String adminDetails(Message message) {
    return switch (msgType(message)) {
      case "A" -> " heartbeat=" + field(message, Tags.HEART_BT_INT) + " reset="
          + flag(message, Tags.RESET_SEQ_NUM_FLAG);
      case "0", "1" -> " id=" + field(message, Tags.TEST_REQ_ID);
      case "2" -> " begin=" + field(message, Tags.BEGIN_SEQ_NO) + " end=" + field(message, Tags.END_SEQ_NO);
      case "4" -> " new=" + field(message, Tags.NEW_SEQ_NO) + " gapfill=" + flag(message, Tags.GAP_FILL_FLAG);
      case "5" -> " text=" + field(message, Tags.TEXT);
      default -> "";
    };
  }

  /** "firm/1,trader/12/desk" */
  static String parties(Message message) {
    StringBuilder all = new StringBuilder();
    for (Group party : message.getGroups(Tags.NO_PARTY_IDS)) {
      if (all.length() > 0) all.append(',');
      all.append(field(party, Tags.PARTY_ID)).append('/').append(field(party, Tags.PARTY_ROLE));
      for (Group sub : party.getGroups(Tags.NO_PARTY_SUB_IDS)) all.append('/').append(field(sub, Tags.PARTY_SUB_ID));
    }
    return all.length() == 0 ? "-" : all.toString();
  }
}
