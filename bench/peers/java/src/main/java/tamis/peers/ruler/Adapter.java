package tamis.peers.ruler;

import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import software.amazon.event.ruler.GenericMachine;
import tamis.peers.Content;
import tamis.peers.Peer;
import tamis.peers.Predicate;

/** AWS event-ruler: rules as JSON patterns, events as sorted names and values. */
public final class Adapter implements Peer<List<String>, List<Integer>> {
    private final GenericMachine<Integer> machine = new GenericMachine<>();

    public Adapter(Content content) {}

    @Override
    public void add(int id, Predicate[] predicates) throws Exception {
        machine.addRule(id, Arrays.stream(predicates)
            .map(predicate -> "\"" + predicate.name() + "\": [" + pattern(predicate) + "]")
            .collect(Collectors.joining(", ", "{", "}")));
    }

    private static String pattern(Predicate predicate) {
        int[] operands = predicate.operands();
        return switch (predicate.operator()) {
            case "=", "in" -> Arrays.stream(operands).mapToObj(Integer::toString).collect(Collectors.joining(", "));
            case "!=" -> "{\"anything-but\": [" + operands[0] + "]}";
            case "between" -> operands[0] == operands[1] // an interval with equal ends is refused
                ? Integer.toString(operands[0])
                : "{\"numeric\": [\">=\", " + operands[0] + ", \"<=\", " + operands[1] + "]}";
            default -> "{\"numeric\": [\"" + predicate.operator() + "\", " + operands[0] + "]}";
        };
    }

    @Override
    public void ready() {}

    @Override
    public List<String> event(int[] values) {
        SortedMap<String, String> sorted = new TreeMap<>();
        for (int at = 0; at < values.length; at++) {
            sorted.put("a" + at, Integer.toString(values[at]));
        }
        return sorted.entrySet().stream().flatMap(field -> List.of(field.getKey(), field.getValue()).stream()).toList();
    }

    @Override
    public List<Integer> match(List<String> event) {
        return machine.rulesForEvent(event);
    }

    @Override
    public int[] ids(List<Integer> answer) {
        return answer.stream().mapToInt(Integer::intValue).toArray();
    }
}
