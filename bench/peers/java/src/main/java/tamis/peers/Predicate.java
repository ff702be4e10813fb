package tamis.peers;

/** One condition of a subscription: an attribute, an operator, and its operands. */
public record Predicate(int attribute, String operator, int[] operands) {

    static Predicate read(String text) {
        String[] words = text.split(" ");
        int[] operands = new int[words.length - 2];
        for (int at = 0; at < operands.length; at++) {
            operands[at] = Integer.parseInt(words[at + 2]);
        }
        return new Predicate(Integer.parseInt(words[0]), words[1], operands);
    }

    public String name() {
        return "a" + attribute;
    }

    /** The least value that satisfies a predicate which is one range. */
    public int least(int lowest) {
        return operator.equals("<=") ? lowest : operands[0];
    }

    /** The greatest value that satisfies a predicate which is one range. */
    public int greatest(int highest) {
        return switch (operator) {
            case ">=" -> highest;
            case "between" -> operands[1];
            default -> operands[0];
        };
    }
}
